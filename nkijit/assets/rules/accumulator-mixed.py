import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, found = nl.load(x), nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
    scaled = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    half = {"dst": scaled, "data": tile, "op0": nl.multiply, "operand0": 0.5}
    low, high, go_on = found[:, 0:1], found[:, 1:2], nisa.reduce_cmd.reduce
    nisa.tensor_scalar_reduce(**half, reduce_op=nl.minimum, reduce_res=low)
    nisa.tensor_scalar_reduce(**half, reduce_op=nl.maximum, reduce_res=high, reduce_cmd=go_on)
    nl.store(out, found)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, found = nl.load(x), nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
    scaled = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    half = {"dst": scaled, "data": tile, "op0": nl.multiply, "operand0": 0.5}
    low, high, reset = found[:, 0:1], found[:, 1:2], nisa.reduce_cmd.reset_reduce
    nisa.tensor_scalar_reduce(**half, reduce_op=nl.minimum, reduce_res=low)
    nisa.tensor_scalar_reduce(**half, reduce_op=nl.maximum, reduce_res=high, reduce_cmd=reset)
    nl.store(out, found)
    return out


FINDING = r"""
error[accumulator-mixed]: nisa.tensor_scalar_reduce: the accumulators of the Vector Engine hold a reduction with nl.minimum, this one is nl.maximum
  --> accumulator-mixed.py:15:5
    |
 15 |     nisa.tensor_scalar_reduce(**half, reduce_op=nl.maximum, reduce_res=high, reduce_cmd=go_on)
    |     ^^^^^^^^^^^^^^^^^^^^^^^^^
  ::: accumulator-mixed.py:14:5
    |
 14 |     nisa.tensor_scalar_reduce(**half, reduce_op=nl.minimum, reduce_res=low)
    |     ------------------------- last set by nisa.tensor_scalar_reduce
   = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce where the new operator begins
"""
