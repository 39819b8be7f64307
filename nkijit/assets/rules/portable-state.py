import nkijit as nki
import nkijit.language as nl

STARTS = [0, 256]


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in STARTS:
        nl.store(out[:, start : start + 256], nl.load(x[:, start : start + 256]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in (0, 256):
        nl.store(out[:, start : start + 256], nl.load(x[:, start : start + 256]))
    return out


FINDING = r"""
warning[portable-state]: kernel 'wrong': 'STARTS' is a list outside of the function
  --> portable-state.py:11:18
    |
 11 |     for start in STARTS:
    |                  ^^^^^^
   = help: pass the value as an argument, or make the outer variable a tuple or a number
"""
