import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out[0:64], nl.load(x))
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_store_dst_shape_smaller_than_other_shape]: tensor 'out': what is assigned has shape (128, 512), which does not broadcast to (64, 512), the shape of the destination
  --> err_store_dst_shape_smaller_than_other_shape.py:10:5
    |
 10 |     nl.store(out[0:64], nl.load(x))
    |     ^^^^^^^^
   = help: assign the part [0:64, :], or make the destination as large, (128, 512)
"""
