import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32", index="128x4:uint32")
@nki.jit
def wrong(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=found, data=tile.indirect(numbers), op0=nl.add, operand0=1)
    nl.store(out, found)
    return out


@nki.example(x="128x512:int32", index="128x4:uint32")
@nki.jit
def right(x, index):
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    nisa.tensor_scalar(dst=found, data=found, op0=nl.add, operand0=1)
    nl.store(out, found)
    return out


FINDING = r"""
error[indirect-address]: nisa.tensor_scalar: nl.add of 32-bit integers with .indirect() is address arithmetic
  --> indirect-address.py:12:5
    |
 12 |     nisa.tensor_scalar(dst=found, data=tile.indirect(numbers), op0=nl.add, operand0=1)
    |     ^^^^^^^^^^^^^^^^^^
   = help: copy the elements to a tile with nisa.tensor_copy first, or compute in float32
"""
