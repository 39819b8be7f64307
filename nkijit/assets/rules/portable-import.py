import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    import math

    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=1 / math.sqrt(x.shape[1]))
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=x.shape[1] ** -0.5)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-import]: kernel 'wrong': an import is in the body
  --> portable-import.py:9:5
   |
 9 |     import math
   |     ^^^^^^
   = help: import at the top of the file
"""
