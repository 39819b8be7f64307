import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.arange(128)[:, None]
    if i < 64:
        pass
    nl.store(out, nl.load(x))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_control_flow_condition_depending_on_arange]: index expression: control flow depends on nl.arange or nl.mgrid
  --> err_control_flow_condition_depending_on_arange.py:11:8
    |
 11 |     if i < 64:
    |        ^
   = help: write mask=i < 64 in the instruction, or select with nl.where(i < 64, ..., ...)
"""
