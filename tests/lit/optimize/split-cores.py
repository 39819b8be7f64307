# `split-cores`: each core of two computes half of the rows.

# RUN: nkijit optimize %s -t trn2 -a x=512x1024:float32 --budget 600 --experiments 2 --two-cores --diff | filecheck %s
# RUN: nkijit optimize %s -t trn2 -a x=512x1024:float32 --budget 600 --experiments 2 --two-cores -o %t.py
# RUN: filecheck --check-prefix SOURCE %s < %t.py
# CHECK: @rows for trn2: {{.*}}, 1 step
# CHECK: step 1. launch on two cores, each with half of the results: {{.*}} [split-cores]
# CHECK-NEXT: 4 stores are divided; the caller launches rows[2](...)
# CHECK-NEXT: gains {{.*}}; equivalent to the original: bits
# CHECK: -  nki.kernel @rows(
# CHECK: +  nki.kernel @rows_core0(
# CHECK: -    nki.repeat r = 0 to 4 {
# CHECK: +    nki.repeat r = 0 to 2 {
# CHECK: +  nki.kernel @rows_core1(
# CHECK: +      %x_1 = nki.view %x offset=r*131072+262144 pattern={{\[\[}}1024, 128], [1, 1024]]
# SOURCE: rows, for trn2, launched on 2 cores: rows[2](...)
# SOURCE: core = nl.program_id(0)
# SOURCE: dst=tile, src=x[128 * r + 256 * core : 128 * r + 256 * core + 128, 0:1024]

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rows(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(0, x.shape[0], 128):
        tile = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[r : r + 128, :])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out[r : r + 128, :], src=tile)
    return out
