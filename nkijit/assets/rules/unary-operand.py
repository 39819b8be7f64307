import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.rsqrt, operand0=1.0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, op1=nl.rsqrt)
    nl.store(out, tile)
    return out


FINDING = r"""
error[unary-operand]: nisa.tensor_scalar: 'op0' is nl.rsqrt, which takes no operand, but 'operand0' is 1.0
  --> unary-operand.py:11:49
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.rsqrt, operand0=1.0)
    |                                                 ^^^^^^^^
   = help: leave the operand out, or pass op0=nl.add with the operand and the unary operator as op1
"""
