import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.load(x[i, j]), mask=(i < 3) | (j < 3))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out[i, j], nl.load(x[i, j]), mask=(i < 128) & (j < 512))
    return out


FINDING = r"""
error[err_unsupported_expression_in_mask]: mask: a mask is a conjunction, it cannot be joined with |
  --> err_unsupported_expression_in_mask.py:11:42
    |
 11 |     nl.store(out, nl.load(x[i, j]), mask=(i < 3) | (j < 3))
    |                                          ^
   = help: write one instruction for each part
"""
