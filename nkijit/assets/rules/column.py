import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=tile)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=nl.load(x[:, 0:1]))
    nl.store(out, tile)
    return out


FINDING = r"""
error[column]: nisa.tensor_scalar: 'operand0' must have shape (128, 1), one element for each partition of 'data', it is 128x512
  --> column.py:11:71
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=tile)
    |                                       ^^^^                            ^^^^
   = operand0: %tile, sbuf 128x512 float32, allocated at column.py:10:12
   = data: %tile, sbuf 128x512 float32, allocated at column.py:10:12
   = help: pass one column, tile[:, 0:1], or a number
"""
