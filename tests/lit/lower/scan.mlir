// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// CHECK: kernel recurrence, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 768 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:64, float32], value=0 scan.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=b[sbuf 256, 0:128, 1:64, float32], value=0 scan.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 TENSOR_TENSOR_SCAN dst=y[sbuf 512, 0:128, 1:64, float32], data0=a[sbuf 0, 0:128, 1:64, float32], data1=b[sbuf 256, 0:128, 1:64, float32], initial=0.0, op0=multiply, op1=add scan.mlir:{{[0-9]+}}
nki.kernel @recurrence() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.tensor_tensor_scan dst=%y, data0=%a, data1=%b, initial=%zero, op0=multiply, op1=add
  nki.return
}
