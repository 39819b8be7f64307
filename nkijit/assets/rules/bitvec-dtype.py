import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.bitwise_and, operand0=7)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    bits = tile.view(nl.int32)
    nisa.tensor_scalar(dst=bits, data=bits, op0=nl.bitwise_and, operand0=7)
    nl.store(out, tile)
    return out


FINDING = r"""
error[bitvec-dtype]: nisa.tensor_scalar: 'data' must be of an integer type, it is float32
  --> bitvec-dtype.py:11:39
    |
 11 |     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.bitwise_and, operand0=7)
    |                                       ^^^^
   = data: %tile, sbuf 128x512 float32, allocated at bitvec-dtype.py:10:12
   = help: use nl.logical_and for values that are true or false; for bit patterns view the tile as an integer type of the same width, e.g. tile.view(nl.int32)
"""
