import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=0.0, engine=nisa.engine.scalar)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=0.0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[engine-operator]: nisa.tensor_scalar: the Scalar Engine runs nl.multiply then nl.add, nl.multiply, or nl.add; the operators are nl.maximum
  --> engine-operator.py:11:5
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=0.0, engine=nisa.engine.scalar)
    |     ^^^^^^^^^^^^^^^^^^
   = help: leave engine= out, or pass the operator to another engine, e.g. engine=nisa.engine.vector
"""
