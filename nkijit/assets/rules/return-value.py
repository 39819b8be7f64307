import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    tile = nl.load(x)
    return tile.shape


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


FINDING = r"""
error[return-value]: kernel 'wrong': result 0 is not a tensor but 128 (int)
  --> return-value.py:9:12
   |
 9 |     return tile.shape
   |            ^^^^^^^^^^
   = the same finding 2 times at this place, in an unrolled loop or call
   = help: leave it out: the caller can compute it; or make it a tensor with nl.shared_constant
"""
