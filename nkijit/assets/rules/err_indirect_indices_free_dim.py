import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="1024x512:float32", rows="64x1:int32")
@nki.jit
def wrong(x, rows):
    out = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    at, (i, j) = nl.load(rows), nl.mgrid[0:64, 0:512]
    nl.store(out, nl.load(x[at[i, 0 * j], j]))
    return out


@nkijit.example(x="1024x512:float32", rows="64x1:int32")
@nki.jit
def right(x, rows):
    out = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    at = nl.load(rows)
    i, j = nl.arange(64)[:, None], nl.arange(512)[None, :]
    nl.store(out, nl.load(x[at[i, 0], j]))
    return out


FINDING = r"""
error[err_indirect_indices_free_dim]: tensor 'x': the index of dimension 0 is a tile of shape (64, 512)
  --> err_indirect_indices_free_dim.py:11:19
    |
 11 |     nl.store(out, nl.load(x[at[i, 0 * j], j]))
    |                   ^^^^^^^
   = help: make the index with nl.arange(n)[:, None] and not with nl.mgrid
"""
