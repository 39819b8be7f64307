import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile, accumulate=True)
    nl.store(out, nl.copy(sum))
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    sum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile, accumulate=False)
    nl.store(out, nl.copy(sum))
    return out


FINDING = r"""
error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but nothing to add to has been written in 'dst' before
  --> psum-accumulate.py:12:24
    |
 12 |     nisa.nc_matmul(dst=sum, stationary=tile[:, 0:128], moving=tile, accumulate=True)
    |                        ^^^
   = dst: %sum, psum 128x512 float32, allocated at psum-accumulate.py:11:11
   = help: use accumulate=False (or None) for the first matmul of a group
"""
