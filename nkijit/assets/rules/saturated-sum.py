import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(flags="128x512:uint8")
@nki.jit
def wrong(flags):
    counts = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    count = nl.ndarray((128, 1), dtype=flags.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=count, op=nl.add, data=nl.load(flags), axis=1)
    nl.store(counts, count)
    return counts


@nki.example(flags="128x512:uint8")
@nki.jit
def right(flags):
    counts = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    count = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=count, op=nl.add, data=nl.load(flags), axis=1)
    nl.store(counts, count)
    return counts


FINDING = r"""
warning[saturated-sum]: nisa.tensor_reduce: adds up 512 integers, but 'dst' is uint8, which saturates at 255
  --> saturated-sum.py:11:28
    |
 11 |     nisa.tensor_reduce(dst=count, op=nl.add, data=nl.load(flags), axis=1)
    |                            ^^^^^
   = dst: %count, sbuf 128x1 uint8, allocated at saturated-sum.py:10:13
   = help: give the sum the data type nl.int32 or nl.float32
"""
