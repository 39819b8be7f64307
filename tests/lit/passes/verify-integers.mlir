// RUN: nkijit verify -p verify-integers %s > %t
// RUN: filecheck --match-full-lines %s < %t

// 32-bit integers that float32 may round, each next to its nearest exact neighbour.

// -------------------- tensor_scalar

// CHECK: warning[rounded-integers]: nisa.tensor_scalar: computes nl.add of int32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data' to that
// CHECK-NEXT: --> {{.*}}verify-integers.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%t, data=%t, op0=add, operand0=%one
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %t, sbuf 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: write the number to an int32 tile with nisa.memset, and use nisa.tensor_tensor of int32 tiles in SBUF: the GpSimd Engine computes it in integers
nki.kernel @number(%x: memref<128x64xi32, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1 : i64
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xi32, #nki.shared_hbm>
  nisa.dma_copy dst=%t, src=%x
  nisa.tensor_scalar dst=%t, data=%t, op0=add, operand0=%one
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// Integers of 16 bits, of 24 bits, in a comparison, and bit patterns.
nki.kernel @number_exact(%x: memref<128x64xi32, #nki.private_hbm>, %y: memref<128x64xi16, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1 : i64
  %eight = arith.constant 8 : i64
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xi32, #nki.shared_hbm>
  nisa.dma_copy dst=%t, src=%x
  nisa.dma_copy dst=%narrow, src=%y
  nisa.tensor_scalar dst=%sum, data=%narrow, op0=add, operand0=%one
  nisa.dma_copy dst=%out, src=%sum
  nisa.tensor_scalar dst=%sum, data=%t, op0=greater, operand0=%one
  nisa.dma_copy dst=%out, src=%sum
  nisa.tensor_scalar dst=%sum, data=%t, op0=left_shift, operand0=%one
  nisa.dma_copy dst=%out, src=%sum
  nisa.tensor_scalar dst=%sum, data=%t, op0=right_shift, operand0=%eight
  nisa.tensor_scalar dst=%sum, data=%sum, op0=maximum, operand0=%one
  nisa.tensor_scalar dst=%sum, data=%sum, op0=subtract, operand0=%one
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// -------------------- tensor_tensor

// CHECK: warning[rounded-integers]: nisa.tensor_tensor: computes nl.multiply of uint32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data1' to that
// CHECK: = help: leave engine= out: by default the GpSimd Engine computes it in integers
// CHECK: warning[rounded-integers]: nisa.tensor_tensor: computes nl.add of uint32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data1' to that
// CHECK: = help: copy the operands to SBUF with nisa.tensor_copy, and allocate dst in SBUF: nisa.tensor_tensor then runs on the GpSimd Engine, in integers
// CHECK: warning[rounded-integers]: nisa.tensor_tensor: computes nl.subtract of uint32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data1' to that
// CHECK: = help: copy the operands to int32 or uint32 tiles with nisa.tensor_copy: nisa.tensor_tensor then runs on the GpSimd Engine, in integers
nki.kernel @tiles(%x: memref<128x64xui32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %p = nki.alloc : memref<128x64xui32, #nki.psum>
  %few = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %out = nki.alloc : memref<128x64xui32, #nki.shared_hbm>
  nisa.dma_copy dst=%t, src=%x
  nisa.memset dst=%few, value=1
  nisa.tensor_tensor dst=%t, data1=%t, data2=%t, op=multiply, engine=vector
  nisa.tensor_tensor dst=%p, data1=%t, data2=%t, op=add
  nisa.tensor_copy dst=%t, src=%p
  nisa.tensor_tensor dst=%t, data1=%t, data2=%few, op=subtract
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// By default the GpSimd Engine computes integers.
nki.kernel @tiles_exact(%x: memref<128x64xui32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xui32, #nki.shared_hbm>
  nisa.dma_copy dst=%t, src=%x
  nisa.tensor_tensor dst=%t, data1=%t, data2=%t, op=multiply
  nisa.tensor_tensor dst=%t, data1=%t, data2=%t, op=maximum, engine=vector
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// -------------------- known bounds

// 127 * 64 + 63 = 8191, times 2051 is more than 2**24 = 16777216.
// CHECK: warning[rounded-integers]: nisa.tensor_scalar: computes nl.multiply of int32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and 'dst' can reach 16799741
nki.kernel @pattern() target=trn3 {
  %factor = arith.constant 2051 : i64
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xi32, #nki.shared_hbm>
  nisa.iota dst=%t, pattern=[[1, 64]], channel_multiplier=64
  nisa.tensor_scalar dst=%t, data=%t, op0=multiply, operand0=%factor
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// 8191 * 2048 = 16775168; a power of two only changes the exponent: 8191 * 65536 is exact.
nki.kernel @pattern_exact() target=trn3 {
  %factor = arith.constant 2048 : i64
  %power = arith.constant 65536 : i64
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %u = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xi32, #nki.shared_hbm>
  nisa.iota dst=%t, pattern=[[1, 64]], channel_multiplier=64
  nisa.tensor_scalar dst=%u, data=%t, op0=multiply, operand0=%factor
  nisa.dma_copy dst=%out, src=%u
  nisa.tensor_scalar dst=%u, data=%t, op0=multiply, operand0=%power
  nisa.dma_copy dst=%out, src=%u
  nki.return %out
}

// The integers that a loop adds up may be any.
// CHECK: warning[rounded-integers]: nisa.tensor_tensor: computes nl.add of int32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and nothing limits 'data2' to that
nki.kernel @loop(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %t = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %each = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %out = nki.alloc : memref<1x1xi32, #nki.shared_hbm>
  nisa.memset dst=%t, value=0
  scf.for %i = %c0 to %c9 step %c1 : i32 {
    nisa.dma_copy dst=%each, src=%x
    nisa.tensor_tensor dst=%t, data1=%t, data2=%each, op=add, engine=vector
  }
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// A loop counts.
nki.kernel @loop_exact() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %one = arith.constant 1 : i64
  %t = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %u = nki.alloc : memref<1x1xui32, #nki.sbuf>
  %out = nki.alloc : memref<1x1xi32, #nki.shared_hbm>
  nisa.memset dst=%t, value=0
  nisa.memset dst=%u, value=1
  scf.for %i = %c0 to %c9 step %c1 : i32 {
    nisa.tensor_scalar dst=%t, data=%t, op0=add, operand0=%one
    nisa.tensor_scalar dst=%u, data=%u, op0=multiply, operand0=%one, op1=add, operand1=%one
    nisa.tensor_tensor dst=%t, data1=%t, data2=%u, op=add, engine=vector
  }
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// -------------------- reductions and DMA

// 64 * 300001 = 19200064.
// CHECK: warning[rounded-integers]: nisa.tensor_reduce: computes nl.add of int32 in float32 on the Vector Engine, which is exact up to 2**24 (16777216), and 'dst' can reach 19200064
// CHECK: = help: combine slices of the tile with nisa.tensor_tensor of int32 tiles in SBUF: the GpSimd Engine computes it in integers
nki.kernel @sum() target=trn3 {
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %s = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x1xi32, #nki.shared_hbm>
  nisa.memset dst=%t, value=300001
  nisa.tensor_reduce dst=%s, op=add, data=%t, axis=[1]
  nisa.dma_copy dst=%out, src=%s
  nki.return %out
}

// 64 * 200001 = 12800064; multiples of 32 are exact up to 2**29.
nki.kernel @sum_exact() target=trn3 {
  %t = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %s = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %out = nki.alloc : memref<128x1xi32, #nki.shared_hbm>
  nisa.memset dst=%t, value=200001
  nisa.tensor_reduce dst=%s, op=add, data=%t, axis=[1]
  nisa.dma_copy dst=%out, src=%s
  nisa.memset dst=%t, value=300000
  nisa.tensor_reduce dst=%s, op=add, data=%t, axis=[1]
  nisa.dma_copy dst=%out, src=%s
  nki.return %out
}

// CHECK: warning[rounded-integers]: nisa.dma_compute: computes nl.add of int32 in float32 on the DMA engines, which is exact up to 2**24 (16777216), and nothing limits 'srcs' to that
// CHECK: = help: load the sources to SBUF, and add them with nisa.tensor_tensor of int32 tiles: the GpSimd Engine computes it in integers
nki.kernel @dma(%x: memref<128x64xi32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<128x64xi32, #nki.shared_hbm>
  nisa.dma_compute dst=%out, srcs=[%x, %x], reduce_op=add
  nki.return %out
}

// -------------------- uses

// An index of 1024 rows is small where it is right; a comparison in float32 rounds as well.
nki.kernel @index(%x: memref<1024x64xf32, #nki.private_hbm>, %rows: memref<128x1xi32, #nki.private_hbm>) target=trn3 {
  %four = arith.constant 4 : i64
  %i = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %m = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %t = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%i, src=%rows
  nisa.tensor_scalar dst=%i, data=%i, op0=multiply, operand0=%four
  nisa.tensor_scalar dst=%m, data=%i, op0=less, operand0=%four
  %view = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] vector=%i scale=64 bound=1024
  nisa.dma_copy dst=%t, src=%view
  nisa.tensor_scalar dst=%t, data=%t, op0=multiply, operand0=%m
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}

// CHECK: 8 warnings
