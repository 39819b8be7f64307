import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.equal, data=tile, axis=1)
    nl.store(out, total)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.maximum, data=tile, axis=1)
    nl.store(out, total)
    return out


FINDING = r"""
error[reducible]: nisa.tensor_reduce: nl.equal is not a reduction operator
  --> reducible.py:12:5
    |
 12 |     nisa.tensor_reduce(dst=total, op=nl.equal, data=tile, axis=1)
    |     ^^^^^^^^^^^^^^^^^^
   = help: pass an operator that reduces, e.g. op=nl.add or op=nl.maximum
"""
