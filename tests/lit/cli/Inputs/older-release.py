"""A kernel of an early release, which need not run."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b, offset):
    for _ in nl.affine_range(2):
        psum = nl.ndarray((128, 512), nl.float32, nl.psum)
        nisa.nc_matmul(psum, a, b, is_moving_zero=True, psumAccumulateFlag=0)
        nisa.tensor_copy_dynamic_src(psum, a, offset)
