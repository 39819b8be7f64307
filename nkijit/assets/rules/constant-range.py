import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1e300)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1e30)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[constant-range]: nisa.tensor_scalar: 'operand0' is 1e+300, which is stored as a float32; the type holds -3.4028234663852886e+38 to 3.4028234663852886e+38
  --> constant-range.py:11:71
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1e300)
    |                                                                       ^^^^^
   = help: write a number that the type holds, or use a wider type
"""
