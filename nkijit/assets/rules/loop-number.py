import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, weight = nl.load(x), 1.0
    for _ in nl.dynamic_range(4):
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=weight)
        weight = weight / 2
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, weight = nl.load(x), 1.0
    for _ in range(4):
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=weight)
        weight = weight / 2
    nl.store(out, tile)
    return out


FINDING = r"""
warning[loop-number]: nl.dynamic_range: its body is traced once, so 'weight' changes once, from 1.0 to 0.5, and not in each iteration
  --> loop-number.py:11:14
    |
 11 |     for _ in nl.dynamic_range(4):
    |              ^^^^^^^^^^^^^^^^
   = help: write range(4), which traces the body for each iteration; or keep weight in a tile or a register that the body updates
"""
