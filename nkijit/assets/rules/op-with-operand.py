import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, op1=nl.multiply)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, op1=nl.multiply, operand1=2.0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[op-with-operand]: nisa.tensor_scalar: 'op1' is nl.multiply, which needs 'operand1'
  --> op-with-operand.py:11:75
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, op1=nl.multiply)
    |                                                                           ^^^^^^^^^^^
   = help: give both, or leave both out
"""
