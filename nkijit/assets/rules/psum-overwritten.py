import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(a="256x128:float32", b="256x512:float32")
@nki.jit(platform_target="trn2")
def wrong(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(0, 256, 128):
        left, right = nl.load(a[k : k + 128]), nl.load(b[k : k + 128])
        nisa.nc_matmul(dst=sums, stationary=left, moving=right)
        nisa.tensor_scalar(dst=sums, data=sums, op0=nl.multiply, operand0=0.5)
    nl.store(out, nl.copy(sums))
    return out


@nki.example(a="256x128:float32", b="256x512:float32")
@nki.jit(platform_target="trn2")
def right(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(0, 256, 128):
        left, right = nl.load(a[k : k + 128]), nl.load(b[k : k + 128])
        nisa.nc_matmul(dst=sums, stationary=left, moving=right)
    nisa.tensor_scalar(dst=sums, data=sums, op0=nl.multiply, operand0=0.5)
    nl.store(out, nl.copy(sums))
    return out


FINDING = r"""
warning[psum-overwritten]: nisa.nc_matmul: adds to what another engine has written since the last matmul
  --> psum-overwritten.py:13:28
    |
 13 |         nisa.nc_matmul(dst=sums, stationary=left, moving=right)
    |                            ^^^^
  ::: psum-overwritten.py:14:9
    |
 14 |         nisa.tensor_scalar(dst=sums, data=sums, op0=nl.multiply, operand0=0.5)
    |         ------------------ overwritten by nisa.tensor_scalar
   = dst: %sums, psum 128x512 float32, allocated at psum-overwritten.py:10:12
   = help: write the result to another tile, move the instruction after the last matmul, or add the parts with nisa.tensor_tensor
"""
