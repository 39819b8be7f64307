import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.exp, operand0=1.0)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[alu-operator]: nisa.tensor_scalar: 'op0' is nl.exp, which is not an ALU operator
  --> alu-operator.py:11:49
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.exp, operand0=1.0)
    |                                                 ^^^^^^
   = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
"""
