import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in (0, 1):
        tile = nl.load(x[128 * i : 128 * i + 128])
        nisa.activation(dst=tile, op=nl.exp, data=tile, name="exp")
        nisa.dma_copy(dst=out[128 * i : 128 * i + 128], src=tile, name=f"store{i}")
    return out


wrong = wrong.with_schedule([("store1", "exp")])


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in (0, 1):
        tile = nl.load(x[128 * i : 128 * i + 128])
        nisa.activation(dst=tile, op=nl.exp, data=tile, name=f"exp{i}")
        nisa.dma_copy(dst=out[128 * i : 128 * i + 128], src=tile, name=f"store{i}")
    return out


right = right.with_schedule([("store1", "exp0")])


FINDING = r"""
error[schedule-name]: kernel 'wrong': 2 instructions have the name 'exp'
  --> schedule-name.py:8:5
   |
 8 | def wrong(x):
   |     ^^^^^
   = help: give the instructions different name= arguments and use these
"""
