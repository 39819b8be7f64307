import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar_reduce(
        dst=tile,
        data=tile,
        op0=nl.subtract,
        operand0=1.0,
        reverse0=True,
        reduce_op=nl.add,
        reduce_res=total,
    )
    nl.store(out, total)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=1.0, reverse0=True)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    nl.store(out, total)
    return out


FINDING = r"""
error[not-reversible]: nisa.tensor_scalar_reduce: 'reverse0' is True
  --> not-reversible.py:16:18
    |
 16 |         reverse0=True,
    |                  ^^^^
   = help: run nisa.tensor_scalar with reverse0=True first, and reduce its result
"""
