# `longer-rows`: eight chunks of columns become one.

# RUN: nkijit optimize %s -t trn2 -a x=128x1024:float32 -a y=128x1024:float32 --budget 600 --experiments 4 --diff | filecheck %s
# CHECK: @chunks for trn2: {{.*}}, 1 step
# CHECK: step 1. longer-rows.py:23: do 4 iterations of the loop over c with instructions on longer rows: {{.*}} [longer-rows]
# CHECK: -    nki.repeat c = 0 to 8 {
# CHECK: +    nki.repeat c = 0 to 2 {
# CHECK: -      %y_1 = nki.view %y offset=c*128 pattern={{\[\[}}1024, 128], [1, 128]]
# CHECK: +      %y_1 = nki.view %y offset=c*512 pattern={{\[\[}}1024, 128], [1, 512]]

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def chunks(x, y):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for c in range(0, 1024, 128):
        one = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
        two = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=one, src=x[:, c : c + 128])
        nisa.dma_copy(dst=two, src=y[:, c : c + 128])
        nisa.tensor_tensor(dst=total, data1=one, data2=two, op=nl.add)
        nisa.dma_copy(dst=out[:, c : c + 128], src=total)
    return out
