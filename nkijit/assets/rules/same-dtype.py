import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x128:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    turned = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=nl.load(x))
    nl.store(out, nl.copy(turned))
    return out


@nki.example(x="128x128:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    turned = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=nl.load(x))
    nl.store(out, nl.copy(turned, dtype=nl.float32))
    return out


FINDING = r"""
error[same-dtype]: nisa.nc_transpose: different data types: 'dst' is float32, 'data' is bfloat16
  --> same-dtype.py:11:27
    |
 11 |     nisa.nc_transpose(dst=turned, data=nl.load(x))
    |                           ^^^^^^       ^^^^^^^^^^
   = dst: %turned, psum 128x128 float32, allocated at same-dtype.py:10:14
   = data: %sbuf, sbuf 128x128 bfloat16, allocated at same-dtype.py:11:40
   = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
"""
