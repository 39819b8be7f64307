# RUN: nkijit trace %s:same_shape -a x=128x64:float32 -a y=128x64:float32 | filecheck --match-full-lines --check-prefix=SAME %s
# RUN: nkijit trace %s:broadcast -a x=128x64:float32 -a y=128x1:float32 -a z=1x64:bfloat16 | filecheck --match-full-lines --check-prefix=BROADCAST %s
# RUN: nkijit trace %s:one_tile -a x=128x64:float32 -t trn1 | filecheck --match-full-lines --check-prefix=ONE %s
# RUN: nkijit trace %s:integers -a x=128x64:int32 | filecheck --match-full-lines --check-prefix=INTEGERS %s
# RUN: nkijit verify %s:same_shape -a x=128x64:float32 -a y=128x64:float32 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:broadcast -a x=128x64:float32 -a y=128x1:float32 -a z=1x64:bfloat16 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:one_tile -a x=128x64:float32 -t trn1 | filecheck --check-prefix=VERIFY %s
# RUN: nkijit verify %s:integers -a x=128x64:int32 | filecheck --check-prefix=VERIFY %s

# Operator words that are called: one instruction each where the hardware has one. The result is
# a tile named after the author's variable.
# VERIFY-NOT: error[

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def same_shape(x, y):
    a = nl.load(x)
    b = nl.load(y)
    # SAME: %total = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # SAME-NEXT: nisa.tensor_tensor dst=%total, data1=%a, data2=%b, op=add
    total = nl.add(a, b)
    # The instruction rounds to another data type.
    # SAME-NEXT: %below = nki.alloc : memref<128x64xui8, #nki.sbuf>
    # SAME-NEXT: nisa.tensor_tensor dst=%below, data1=%total, data2=%b, op=less
    below = nl.less(total, b, dtype=nl.uint8)
    # A number on either side.
    # SAME-NEXT: %more = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # SAME-NEXT: nisa.tensor_scalar dst=%more, data=%total, op0=multiply, operand0=%c2.5
    more = nl.multiply(total, 2.5)
    # SAME-NEXT: %rest = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # SAME-NEXT: nisa.tensor_scalar dst=%rest, data=%more, op0=subtract, operand0=%c1, reverse0=true
    rest = nl.subtract(1, more)
    # Two tiles in PSUM: one of them is copied first.
    p = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
    nisa.tensor_copy(p, rest)
    # SAME: %squares = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # SAME-NEXT: %p_sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # SAME-NEXT: nisa.tensor_copy dst=%p_sbuf, src=%p
    # SAME-NEXT: nisa.tensor_tensor dst=%squares, data1=%p, data2=%p_sbuf, op=multiply
    squares = nl.multiply(p, p)
    # SAME-NEXT: nki.return
    return None


@nki.jit
def broadcast(x, y, z):
    tile = nl.load(x)
    column = nl.load(y)
    row = nl.load(z)
    # One float32 element per partition is an operand of tensor_scalar.
    # BROADCAST: %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # BROADCAST-NEXT: nisa.tensor_scalar dst=%a, data=%tile, op0=maximum, operand0=%column
    a = nl.maximum(tile, column)
    # A row goes to all partitions by a matmul with ones.
    # BROADCAST-NEXT: %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # BROADCAST-NEXT: %row_rows = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # BROADCAST-NEXT: %ones = nki.alloc : memref<1x128xbf16, #nki.sbuf>
    # BROADCAST-NEXT: nisa.memset dst=%ones, value=1.0, engine=gpsimd
    # BROADCAST-NEXT: %row_product = nki.alloc : memref<128x64xf32, #nki.psum>
    # BROADCAST-NEXT: nisa.nc_matmul dst=%row_product, stationary=%ones, moving=%row, is_stationary_onezero=true, accumulate=false
    # BROADCAST-NEXT: nisa.tensor_copy dst=%row_rows, src=%row_product
    # BROADCAST-NEXT: nisa.tensor_tensor dst=%b, data1=%a, data2=%row_rows, op=multiply
    b = nl.multiply(a, row)
    # In free dimensions a view with a step of 0 does it.
    # BROADCAST-NEXT: %c = nki.alloc : memref<128x64x64xf32, #nki.sbuf>
    # BROADCAST-NEXT: %tile_1 = nki.view %tile offset=0 pattern=[[64, 128], [1, 64], [0, 64]]
    # BROADCAST-NEXT: %b_1 = nki.view %b offset=0 pattern=[[64, 128], [0, 64], [1, 64]]
    # BROADCAST-NEXT: nisa.tensor_tensor dst=%c, data1=%tile_1, data2=%b_1, op=add
    c = nl.add(tile.expand_dim(2), b.expand_dim(1))
    # BROADCAST-NEXT: nki.return


@nki.jit
def one_tile(x):
    tile = nl.load(x)
    # ONE: %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # ONE-NEXT: nisa.activation dst=%a, op=gelu, data=%tile
    a = nl.gelu(tile, dtype=nl.bfloat16)
    # ONE-NEXT: %b = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # ONE-NEXT: nisa.reciprocal dst=%b, data=%a
    b = nl.reciprocal(a)
    # ONE-NEXT: %c = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # ONE-NEXT: nisa.tensor_scalar dst=%c, data=%b, op0=rsqrt
    c = nl.rsqrt(b)
    # ONE-NEXT: %d = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # ONE-NEXT: nisa.tensor_copy dst=%d, src=%c
    d = nl.copy(c, dtype=nl.float32)
    # Whole turns come off first, with 2 pi in three parts.
    # ONE-NEXT: %e = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # ONE-NEXT: %turns = nki.alloc : memref<128x64xi32, #nki.sbuf>
    # ONE-NEXT: nisa.tensor_scalar dst=%turns, data=%d, op0=multiply, operand0=%c0.15915494
    # ONE-NEXT: %angle = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # ONE-NEXT: nisa.scalar_tensor_tensor dst=%angle, data=%turns, op0=multiply, operand0=%c-6.28125, op1=add, operand1=%d
    # ONE-NEXT: nisa.scalar_tensor_tensor dst=%angle, data=%turns, op0=multiply, operand0=%c-0.0019350052, op1=add, operand1=%angle
    # ONE-NEXT: nisa.scalar_tensor_tensor dst=%angle, data=%turns, op0=multiply, operand0=%c-3.019916e-07, op1=add, operand1=%angle
    # ONE-NEXT: nisa.activation dst=%e, op=sin, data=%angle
    e = nl.sin(d)
    # ONE-NEXT: nki.return


@nki.jit
def integers(x):
    tile = nl.load(x)
    # INTEGERS: %a = nki.alloc : memref<128x64xi32, #nki.sbuf>
    # INTEGERS-NEXT: nisa.tensor_scalar dst=%a, data=%tile, op0=bitwise_and, operand0=%c255
    a = nl.bitwise_and(tile, 255)
    # INTEGERS-NEXT: %b = nki.alloc : memref<128x64xi32, #nki.sbuf>
    # INTEGERS-NEXT: nisa.tensor_scalar dst=%b, data=%a, op0=bitwise_xor, operand0=%c-1
    b = nl.invert(a)
    # Bits have the operand's type; another requested type needs a conversion.
    # INTEGERS-NEXT: %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # INTEGERS-NEXT: %bits = nki.alloc : memref<128x64xi32, #nki.sbuf>
    # INTEGERS-NEXT: nisa.tensor_tensor dst=%bits, data1=%a, data2=%b, op=left_shift
    # INTEGERS-NEXT: nisa.tensor_copy dst=%c, src=%bits
    c = nl.left_shift(a, b, dtype=nl.float32)
    # INTEGERS-NEXT: nki.return
