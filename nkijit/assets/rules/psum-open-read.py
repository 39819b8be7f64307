import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="128x128:bfloat16", b="2x128x512:bfloat16")
@nki.jit
def wrong(a, b):
    out = nl.ndarray((2, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for i in range(2):
        nisa.nc_matmul(dst=product, stationary=left, moving=nl.load(b[i]))
        nl.store(out[i], nl.copy(product))
    return out


@nki.example(a="128x128:bfloat16", b="2x128x512:bfloat16")
@nki.jit
def right(a, b):
    out = nl.ndarray((2, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    for i in range(2):
        product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=product, stationary=left, moving=nl.load(b[i]))
        nl.store(out[i], nl.copy(product))
    return out


FINDING = r"""
warning[psum-open-read]: nisa.nc_matmul: accumulate=None adds to a result that has been read already
  --> psum-open-read.py:13:28
    |
 13 |         nisa.nc_matmul(dst=product, stationary=left, moving=nl.load(b[i]))
    |                            ^^^^^^^
  ::: psum-open-read.py:14:26
    |
 14 |         nl.store(out[i], nl.copy(product))
    |                          ------- read by nisa.tensor_copy
   = dst: %product, psum 128x512 float32, allocated at psum-open-read.py:11:15
   = help: read it after the last matmul; for a new group pass accumulate=False, or allocate another tile
"""
