import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(600)[None, :]
    nl.store(out, nl.load(x[i, j]))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
    nl.store(out[i, j], nl.load(x[i, j]))
    return out


FINDING = r"""
error[err_tensor_access_out_of_bound]: tensor 'x': index range [0, 599] exceeds dimension 1, whose size is 512
  --> err_tensor_access_out_of_bound.py:11:19
    |
 11 |     nl.store(out, nl.load(x[i, j]))
    |                   ^^^^^^^
   = help: leave out the elements beyond the tensor, mask=(index < 512) with the index expression of this dimension, or correct the expression
"""
