import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", valid=0)
@nki.jit
def wrong(x, valid):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile[:, 0:valid], axis=1)
    nl.store(out, total)
    return out


@nki.example(x="128x512:float32", valid=0)
@nki.jit
def right(x, valid):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    if valid:
        tile = nl.load(x)
        nisa.tensor_reduce(dst=total, op=nl.add, data=tile[:, 0:valid], axis=1)
    else:
        nisa.memset(dst=total, value=0.0)
    nl.store(out, total)
    return out


FINDING = r"""
error[empty-operand]: nisa.tensor_reduce: 'tile[:, 0:valid]' (128, 0) is empty, so nothing would be written to 'total' (128, 1)
  --> empty-operand.py:12:51
    |
 12 |     nisa.tensor_reduce(dst=total, op=nl.add, data=tile[:, 0:valid], axis=1)
    |                                                   ^^^^^^^^^^^^^^^^
   = help: call the instruction only if the slice has elements, else fill its results with nisa.memset
"""
