import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.bitwise_or, data=tile, axis=1, negate=True)
    nl.store(out, total)
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.bitwise_or, data=tile, axis=1)
    nl.store(out, total)
    return out


FINDING = r"""
error[negate-arithmetic]: nisa.tensor_reduce: 'negate' is True, but nl.bitwise_or is a bitvec operator
  --> negate-arithmetic.py:12:79
    |
 12 |     nisa.tensor_reduce(dst=total, op=nl.bitwise_or, data=tile, axis=1, negate=True)
    |                                                                               ^^^^
   = help: leave negate out
"""
