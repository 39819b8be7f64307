import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    return nl.load(x)


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
warning[returned-tile]: kernel 'wrong': the kernel returns tile 'sbuf' in sbuf; the vendor's compiler takes results in HBM only
  --> returned-tile.py:8:5
   |
 8 | def wrong(x):
   |     ^^^^^
   = help: store the tile to a tensor allocated with buffer=nl.shared_hbm and return that
"""
