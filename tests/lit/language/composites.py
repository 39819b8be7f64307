# RUN: nkijit trace %s:reduced -a x=128x4x64:bfloat16 | filecheck --match-full-lines --check-prefix=REDUCED %s
# RUN: nkijit trace %s:normalised -a x=128x64:bfloat16 -t trn1 | filecheck --match-full-lines --check-prefix=NORM %s
# RUN: nkijit trace %s:selected -a x=128x64:bfloat16 | filecheck --match-full-lines --check-prefix=SELECT %s
# RUN: nkijit trace %s:constant -a x=2x2:float32 | filecheck --match-full-lines --check-prefix=CONSTANT %s
# RUN: nkijit verify %s:reduced -a x=128x4x64:bfloat16 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:normalised -a x=128x64:bfloat16 -t trn1 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:selected -a x=128x64:bfloat16 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:constant -a x=2x2:float32 | filecheck --check-prefix=VERIFY %s

# Functions of several instructions: intermediate tiles are float32 and have their own names.
# VERIFY-NOT: error[

import numpy as np

import nkijit as nki
import nkijit.language as nl


@nki.jit
def reduced(x):
    tile = nl.load(x)
    # REDUCED: %largest = nki.alloc : memref<128x4xbf16, #nki.sbuf>
    # REDUCED-NEXT: nisa.tensor_reduce dst=%largest, op=maximum, data=%tile, axis=[2]
    largest = nl.max(tile, axis=-1)
    # REDUCED-NEXT: %average = nki.alloc : memref<128x1x1xbf16, #nki.sbuf>
    # REDUCED-NEXT: %total = nki.alloc : memref<128x1x1xf32, #nki.sbuf>
    # REDUCED-NEXT: nisa.tensor_reduce dst=%total, op=add, data=%tile, axis=[1, 2]
    # REDUCED-NEXT: nisa.tensor_scalar dst=%average, data=%total, op0=multiply, operand0=%c0.00390625
    average = nl.mean(tile, axis=(1, 2), keepdims=True)
    # REDUCED-NEXT: nki.return


@nki.jit
def normalised(x):
    tile = nl.load(x)
    # NORM: %y = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # NORM-NEXT: %negative_max = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # NORM-NEXT: %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # NORM-NEXT: %exponentials = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # NORM-NEXT: nisa.tensor_reduce dst=%negative_max, op=maximum, data=%tile, axis=[1], negate=true
    # NORM-NEXT: nisa.activation_reduce dst=%exponentials, op=exp, data=%tile, reduce_op=add, reduce_res=%total, bias=%negative_max
    # NORM-NEXT: nisa.reciprocal dst=%total, data=%total
    # NORM-NEXT: nisa.tensor_scalar dst=%y, data=%exponentials, op0=multiply, operand0=%total
    y = nl.softmax(tile, axis=1)
    # NORM-NEXT: %z = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # NORM-NEXT: %squares = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # NORM-NEXT: %inverse_rms = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # NORM-NEXT: nisa.activation_reduce dst=%squares, op=square, data=%y, reduce_op=add, reduce_res=%inverse_rms
    # NORM-NEXT: nisa.tensor_scalar dst=%inverse_rms, data=%inverse_rms, op0=multiply, operand0=%c0.015625, op1=add, operand1=%c1.0e-06
    # NORM-NEXT: nisa.tensor_scalar dst=%inverse_rms, data=%inverse_rms, op0=rsqrt
    # NORM-NEXT: nisa.tensor_scalar dst=%squares, data=%y, op0=multiply, operand0=%inverse_rms
    # NORM-NEXT: nisa.tensor_tensor dst=%z, data1=%squares, data2=%tile, op=multiply
    z = nl.rms_norm(y, tile, axis=1, n=64)
    # NORM-NEXT: nki.return


@nki.jit
def selected(x):
    tile = nl.load(x)
    # SELECT: %condition = nki.alloc : memref<128x64xui8, #nki.sbuf>
    # SELECT-NEXT: nisa.tensor_scalar dst=%condition, data=%tile, op0=greater, operand0=%c0
    condition = nl.greater(tile, 0, dtype=nl.uint8)
    # Bits are selected by a mask, so that NaN in the other tile do not matter.
    # SELECT-NEXT: %y = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # SELECT-NEXT: %mask = nki.alloc : memref<128x64xi16, #nki.sbuf>
    # SELECT-NEXT: nisa.tensor_scalar dst=%mask, data=%condition, op0=not_equal, operand0=%c0.0, op1=multiply, operand1=%c-1.0
    # SELECT-NEXT: %on_false = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # SELECT-NEXT: nisa.memset dst=%on_false, value=1.0
    # SELECT: nisa.tensor_tensor dst=%[[Y:\w+]], data1=%{{\w+}}, data2=%[[FALSE:\w+]], op=bitwise_xor
    # SELECT-NEXT: nisa.tensor_tensor dst=%[[Y]], data1=%[[Y]], data2=%mask, op=bitwise_and
    # SELECT-NEXT: nisa.tensor_tensor dst=%[[Y]], data1=%[[Y]], data2=%[[FALSE]], op=bitwise_xor
    y = nl.where(condition, tile, 1.0)
    # SELECT-NEXT: nki.return


# Constants are at the top of the kernel, and equal ones are shared.
# CONSTANT: %weights = nki.constant "0000803F000000000000000000000040" : memref<2x2xf32, #nki.shared_hbm>
# CONSTANT-NEXT: %identity = nki.constant "0000803F00000000000000000000803F" : memref<2x2xf32, #nki.shared_hbm>
# CONSTANT-NEXT: %tile = nki.alloc : memref<2x2xf32, #nki.sbuf>
@nki.jit
def constant(x):
    weights = nl.shared_constant(np.float32([[1, 0], [0, 2]]))
    # CONSTANT-NEXT: nisa.dma_copy dst=%tile, src=%weights
    tile = nl.load(weights)
    # CONSTANT-NEXT: %first = nki.alloc : memref<2x2xf32, #nki.sbuf>
    # CONSTANT-NEXT: nisa.dma_copy dst=%first, src=%identity
    first = nl.shared_identity_matrix(2, nl.float32)
    # CONSTANT-NEXT: nisa.dma_copy dst=%first, src=%identity
    nl.shared_identity_matrix(2, nl.float32, dst=first)
    # CONSTANT-NEXT: nki.return %weights
    return weights
