import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.zeros(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_hbm_tensor_with_init_value_not_supported]: nl.zeros: a tensor in shared_hbm with an initial value
  --> err_hbm_tensor_with_init_value_not_supported.py:9:11
   |
 9 |     out = nl.zeros(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
   |           ^^^^^^^^
   = help: allocate it with nl.ndarray and store to it
"""
