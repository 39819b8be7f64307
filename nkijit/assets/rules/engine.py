import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nisa.tensor_copy(dst=tile, src=tile, engine=nisa.engine.tensor)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, engine=nisa.engine.vector)
    nl.store(out, tile)
    return out


FINDING = r"""
error[engine]: nisa.tensor_copy: the instruction runs on vector, scalar or gpsimd, not on tensor
  --> engine.py:12:49
    |
 12 |     nisa.tensor_copy(dst=tile, src=tile, engine=nisa.engine.tensor)
    |                                                 ^^^^^^^^^^^^^^^^^^
   = help: leave engine= out, or pass one that the message lists
"""
