import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    for i in nl.dynamic_range(4):
        break
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    for i in nl.static_range(4):
        break
    return out


FINDING = r"""
error[loop-left]: nl.dynamic_range: its body was left before its end
  --> loop-left.py:11:9
    |
 11 |         break
    |         ^^^^^
   = help: leave the loop by its condition: no break, return or exception in its body
"""
