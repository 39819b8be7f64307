import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32", bias="128x1:int32")
@nki.jit
def wrong(x, bias):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nisa.activation(op=nl.exp, data=nl.load(x), bias=nl.load(bias))
    nl.store(out, tile)
    return out


@nkijit.example(x="128x512:float32", bias="128x1:int32")
@nki.jit
def right(x, bias):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nisa.activation(op=nl.exp, data=nl.load(x), bias=nl.load(bias, dtype=nl.float32))
    nl.store(out, tile)
    return out


FINDING = r"""
error[err_activation_bias_invalid_type]: nisa.activation: 'bias' must be a tile of float32, float16 or bfloat16, it has elements of type int32
  --> err_activation_bias_invalid_type.py:11:61
    |
 11 |     tile = nisa.activation(op=nl.exp, data=nl.load(x), bias=nl.load(bias))
    |                                                             ^^^^^^^^^^^^^
   = help: allocate the bias as nl.float32, or convert it with nisa.tensor_copy(bias, dtype=nl.float32)
"""
