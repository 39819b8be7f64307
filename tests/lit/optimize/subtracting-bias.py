# `subtracting-bias`: the reduction negates the maximum, and the activation adds it.

# RUN: nkijit optimize %s -t trn2 -a x=128x2048:float32 --budget 600 --experiments 6 --diff | filecheck %s
# CHECK: step 1. {{.*}}: subtract by the bias of the activation, without %centred: {{.*}} [subtracting-bias]
# CHECK: equivalent to the original: bits
# CHECK: -    nisa.tensor_reduce dst=%largest, op=maximum, data=%tile, axis=[1]
# CHECK: -    nisa.tensor_scalar dst=%centred, data=%tile, op0=subtract, operand0=%largest
# CHECK: +    nisa.tensor_reduce dst=%largest, op=maximum, data=%tile, axis=[1], negate=true
# CHECK: -    nisa.activation dst=%result, op=exp, data=%centred
# CHECK: +    nisa.activation dst=%result, op=exp, data=%tile, bias=%largest

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def powers(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    largest = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    centred = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    result = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
    nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
    nisa.activation(dst=result, data=centred, op=nl.exp)
    nisa.dma_copy(dst=out, src=result)
    return out
