import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.load(x[i * i, j]))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.load(x[i, j]))
    return out


FINDING = r"""
error[affine-index]: index expression: i * i is not affine
  --> affine-index.py:11:29
    |
 11 |     nl.store(out, nl.load(x[i * i, j]))
    |                             ^
   = help: multiply an expression by an integer, and add expressions
"""
