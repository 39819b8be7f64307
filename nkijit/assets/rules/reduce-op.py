import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=tile, op=nl.exp, data=tile, reduce_op=nl.maximum, reduce_res=total)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=total)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=tile, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=total)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=total)
    nl.store(out, tile)
    return out


FINDING = r"""
error[reduce-op]: nisa.activation_reduce: 'reduce_op' must be nl.add, it is nl.maximum
  --> reduce-op.py:12:70
    |
 12 |     nisa.activation_reduce(dst=tile, op=nl.exp, data=tile, reduce_op=nl.maximum, reduce_res=total)
    |                                                                      ^^^^^^^^^^
   = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
"""
