import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[unused-tile]: nl.ndarray: nothing uses 'sum' (sbuf 128x1 float32)
  --> unused-tile.py:10:11
    |
 10 |     sum = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    |           ^^^^^^^^^^
   = help: remove the allocation, or use its tensor instead of another one
"""
