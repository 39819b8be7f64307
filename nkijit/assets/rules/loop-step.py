import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(0, 512, 0):
        nl.store(out[:, nl.ds(i, 128)], nl.load(x[:, nl.ds(i, 128)]))
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.static_range(0, 512, 128):
        nl.store(out[:, i : i + 128], nl.load(x[:, i : i + 128]))
    return out


FINDING = r"""
error[loop-step]: nl.dynamic_range: 'step' must be an int of at least 1, it is 0
  --> loop-step.py:9:39
   |
 9 |     for i in nl.dynamic_range(0, 512, 0):
   |                                       ^
   = help: pass a positive int, or count backwards in the body
"""
