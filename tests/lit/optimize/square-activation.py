# `square-activation`: the Scalar Engine squares while the Vector Engine is busy.

# RUN: nkijit optimize %s -t trn2 -a x=128x4096:float32 --budget 600 --experiments 12 --diff | filecheck %s
# CHECK: step 1. {{.*}}: square with nisa.activation, on the Scalar Engine: {{.*}} [square-activation]
# CHECK: -    nisa.tensor_tensor dst=%square, data1=%tile, data2=%tile, op=multiply, engine=vector
# CHECK-NEXT: +    nisa.activation dst=%square, op=square, data=%tile

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def sums(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    square = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    other = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(
        dst=square, data1=tile, data2=tile, op=nl.multiply, engine=nisa.engine.vector
    )
    nisa.tensor_scalar(
        dst=other, data=tile, op0=nl.maximum, operand0=0.5, engine=nisa.engine.vector
    )
    nisa.tensor_tensor(dst=other, data1=other, data2=square, op=nl.add, engine=nisa.engine.vector)
    nisa.dma_copy(dst=out, src=other)
    return out
