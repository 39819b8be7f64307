import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="512x512:float32", w="512x128:float32")
@nki.jit
def wrong(x, w):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for k in range(4):
        rows = nl.ds(k * 128, 128)
        nisa.nc_matmul(
            dst=total, stationary=nl.load(w[rows]), moving=nl.load(x[rows]), accumulate=False
        )
    nl.store(out, nl.copy(total))
    return out


@nki.example(x="512x512:float32", w="512x128:float32")
@nki.jit
def right(x, w):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for k in range(4):
        rows = nl.ds(k * 128, 128)
        nisa.nc_matmul(
            dst=total, stationary=nl.load(w[rows]), moving=nl.load(x[rows]), accumulate=k > 0
        )
    nl.store(out, nl.copy(total))
    return out


FINDING = r"""
warning[overwritten-result]: nisa.nc_matmul: 'total' is overwritten before anything reads the result: 3 of 4 results are lost
  --> overwritten-result.py:14:17
    |
 14 |             dst=total, stationary=nl.load(w[rows]), moving=nl.load(x[rows]), accumulate=False
    |                 ^^^^^
   = dst: %total, psum 128x512 float32, allocated at overwritten-result.py:10:13
   = help: to add up the iterations, pass accumulate=True in all but the first, e.g. accumulate=k > 0; else read 'dst' in every iteration
"""
