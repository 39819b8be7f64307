import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.maximum, data=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.relu, data=tile)
    nl.store(out, tile)
    return out


FINDING = r"""
error[activation-function]: nisa.activation: 'op' is nl.maximum, which is not an activation function
  --> activation-function.py:11:34
    |
 11 |     nisa.activation(dst=tile, op=nl.maximum, data=tile)
    |                                  ^^^^^^^^^^
   = help: pass an activation function, e.g. nl.exp or nl.gelu; operators such as nl.add go to nisa.tensor_tensor and nisa.tensor_scalar
"""
