import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nisa.reciprocal(tile)
    nl.store(out, result)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
    nisa.reciprocal(dst=result, data=tile)
    nl.store(out, result)
    return out


FINDING = r"""
error[call-arguments]: nisa.reciprocal: argument 'dst' is missing; the call fits the classic API, where instructions return a new tile
  --> call-arguments.py:11:14
    |
 11 |     result = nisa.reciprocal(tile)
    |              ^^^^^^^^^^^^^^^
   = nisa.reciprocal takes dst, data, name
   = help: allocate a tile and write nisa.reciprocal(dst=..., data=tile); for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel
"""
