import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x, scale=0.5):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if scale is not None:
        nisa.activation(dst=tile, op=nl.copy, data=tile, scale=scale)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x, scale=0.5):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if scale != None:
        nisa.activation(dst=tile, op=nl.copy, data=tile, scale=scale)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[portable-identity]: kernel 'wrong': 'is not' is used
  --> portable-identity.py:11:14
    |
 11 |     if scale is not None:
    |              ^^
   = help: compare with == or !=
"""
