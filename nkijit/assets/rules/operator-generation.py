import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.relu, operand0=None)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit(platform_target="trn2")
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=0.0)
    nl.store(out, tile)
    return out


FINDING = r"""
error[operator-generation]: nisa.tensor_scalar: 'op0' is nl.relu, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
  --> operator-generation.py:11:49
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.relu, operand0=None)
    |                                                 ^^^^^^^
   = help: choose another operator, or trace for a newer target with platform_target=
"""
