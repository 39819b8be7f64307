import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x, *, scale=0.5):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.copy, data=tile, scale=scale)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x, scale=0.5):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.copy, data=tile, scale=scale)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-keyword-only]: kernel 'wrong': 'scale' comes after a * and is keyword-only
  --> portable-keyword-only.py:8:17
   |
 8 | def wrong(x, *, scale=0.5):
   |                 ^^^^^
   = help: leave the * out and put parameters with defaults last
"""
