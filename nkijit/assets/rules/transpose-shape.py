import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x128:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    turned = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile)
    nl.store(out[:, 0:64], nl.copy(turned))
    nl.store(out[:, 64:128], nl.copy(turned))
    return out


@nki.example(x="128x128:float32")
@nki.jit
def right(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    turned = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile)
    nl.store(out, nl.copy(turned))
    return out


FINDING = r"""
error[transpose-shape]: nisa.nc_transpose: the transpose of 128x128 is 128x128, 'dst' is 128x64
  --> transpose-shape.py:12:27
    |
 12 |     nisa.nc_transpose(dst=turned, data=tile)
    |                           ^^^^^^       ^^^^
   = dst: %turned, psum 128x64 float32, allocated at transpose-shape.py:11:14
   = data: %tile, sbuf 128x128 float32, allocated at transpose-shape.py:10:12
   = help: allocate 'dst' with the shape (128, 128)
"""
