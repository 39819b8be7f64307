import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out[:, 0:64], nl.exp(tile[nl.arange(64), 0]))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    tile = nl.load(x)
    nl.store(out, nl.exp(tile[i, j]))
    return out


FINDING = r"""
error[err_1d_arange_not_supported]: tensor 'tile': an index of one dimension
  --> err_1d_arange_not_supported.py:11:35
    |
 11 |     nl.store(out[:, 0:64], nl.exp(tile[nl.arange(64), 0]))
    |                                   ^^^^
   = help: add a dimension, nl.arange(n)[:, None], or index with slices
"""
