// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Along the free dimensions the Vector Engine reduces, over partitions the GpSimd Engine.
// CHECK: kernel axes, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 288 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 4:8 1:4, float32], value=0 signal(1) reduce.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 TENSOR_REDUCE dst=y[sbuf 128, 0:128, 1:8, float32], data=x[sbuf 0, 0:128, 4:8 1:4, float32], op=maximum, axis=[2], negate=true reduce.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 2 wait(vector>=1) TENSOR_PARTITION_REDUCE dst=z[sbuf 160, 0:1, 4:8 1:4, float32], data=x[sbuf 0, 0:128, 4:8 1:4, float32], op=add reduce.mlir:{{[0-9]+}}
nki.kernel @axes() target=trn3 {
  %x = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %z = nki.alloc : memref<1x8x4xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.tensor_reduce dst=%y, op=maximum, data=%x, axis=[2], negate=true
  nisa.tensor_partition_reduce dst=%z, op=add, data=%x
  nki.return
}
