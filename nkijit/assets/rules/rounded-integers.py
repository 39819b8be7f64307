import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1000)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, factor = nl.load(x), nl.full(x.shape, 1000, dtype=x.dtype)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=factor, op=nl.multiply)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[rounded-integers]: nisa.tensor_scalar: computes nl.multiply of int32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data' to that
  --> rounded-integers.py:11:39
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1000)
    |                                       ^^^^
   = data: %tile, sbuf 128x512 int32, allocated at rounded-integers.py:10:12
   = help: write the number to an int32 tile with nisa.memset, and use nisa.tensor_tensor of int32 tiles in SBUF: the GpSimd Engine computes it in integers
"""
