import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    with nl.no_reorder():
        nl.store(out, nl.load(x))
        for _ in nl.dynamic_range(4):
            pass
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    with nl.no_reorder():
        nl.store(out, nl.load(x))
        for _ in nl.static_range(4):
            pass
    return out


FINDING = r"""
error[no-reorder-loop]: nl.dynamic_range: a loop on the device is inside nl.no_reorder
  --> no-reorder-loop.py:11:18
    |
 11 |         for _ in nl.dynamic_range(4):
    |                  ^^^^^^^^^^^^^^^^
   = help: put the no_reorder block into the body of the loop
"""
