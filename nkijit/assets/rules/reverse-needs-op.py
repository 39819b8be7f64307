import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, reverse1=True)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=1.0, reverse0=True)
    nl.store(out, tile)
    return out


FINDING = r"""
error[reverse-needs-op]: nisa.tensor_scalar: 'reverse1' is True, but 'op1' is not set
  --> reverse-needs-op.py:11:80
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, reverse1=True)
    |                                                                                ^^^^
   = help: set the operator, or leave the reverse flag out
"""
