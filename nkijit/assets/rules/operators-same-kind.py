import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1, op1=nl.bitwise_and, operand1=7)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:int16")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1, op1=nl.multiply, operand1=7)
    nl.store(out, tile)
    return out


FINDING = r"""
error[operators-same-kind]: nisa.tensor_scalar: 'op0' is arithmetic (nl.add), 'op1' is bitvec (nl.bitwise_and)
  --> operators-same-kind.py:11:49
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1, op1=nl.bitwise_and, operand1=7)
    |                                                 ^^^^^^
   = help: split the instruction in two
"""
