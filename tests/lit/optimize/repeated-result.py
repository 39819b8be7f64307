# `repeated-result`: the broadcast of a row by matmuls moves before the loop.

# RUN: nkijit optimize %s -t trn2 -a x=512x1024:float32 -a row=1x1024:float32 --budget 600 --experiments 12 --diff | filecheck %s
# CHECK: @weighted for trn2: {{.*}}
# CHECK: step 1. repeated-result.py:[[# @LINE + 28]]: compute %weights once and keep it: {{.*}} [repeated-result]
# CHECK-NEXT: 3 tiles have the contents of an earlier tile
# CHECK-NEXT: gains {{.*}}; equivalent to the original: bits
# CHECK: -    nki.repeat r = 0 to 4 {
# CHECK: +    nisa.nc_matmul dst=%product, stationary=%ones, moving=%one_1
# CHECK: +    nki.repeat r = 0 to 3 {
# CHECK: -      nisa.nc_matmul dst=%product, stationary=%ones, moving=%one_1
# CHECK: nisa.tensor_tensor dst=%tile_1, data1=%tile_1, data2=%weights, op=multiply

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def weighted(x, row):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(0, x.shape[0], 128):
        tile = nl.ndarray((128, 1024), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[r : r + 128])
        one = nl.ndarray((1, 1024), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=one, src=row)
        ones = nl.ndarray((1, 128), nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=ones, value=1.0)
        weights = nl.ndarray((128, 1024), nl.float32, buffer=nl.sbuf)
        for half in (0, 512):
            product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=product, stationary=ones, moving=one[:, half : half + 512])
            nisa.tensor_copy(dst=weights[:, half : half + 512], src=product)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=weights, op=nl.multiply)
        nisa.dma_copy(dst=out[r : r + 128], src=tile)
    return out
