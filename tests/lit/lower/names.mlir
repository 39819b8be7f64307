// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A view as another data type. Tensors of one name are numbered.
// CHECK: kernel views, trn3 (NeuronCore-v4)
// CHECK-NEXT: 2 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=x_1[sbuf 0, 0:128, 1:64, int32], value=0 names.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 TENSOR_COPY dst=x[sbuf 256, 0:128, 1:64, int32], src=x_1[sbuf 0, 0:128, 1:64, int32] names.mlir:{{[0-9]+}}
nki.kernel @views() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x_1 = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %bits = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] as i32
  nisa.memset dst=%x_1, value=0
  nisa.tensor_copy dst=%bits, src=%x_1
  nki.return
}

// An allocation behind a loop is declared in front of it by lowering, and is called as before.
// CHECK: kernel kept, trn3 (NeuronCore-v4)
// CHECK-NEXT: 2 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: loop x_1 = 0 to 4 step 1 {
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 names.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-NEXT: 1 TENSOR_COPY dst=x_2[sbuf 256, 0:128, 1:64, float32], src=x[sbuf 0, 0:128, 1:64, float32] names.mlir:{{[0-9]+}}
nki.kernel @kept() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  scf.for %x_1 = %c0 to %c4 step %c1 : i32 {
  nisa.memset dst=%x, value=0
  }
  %x_2 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%x_2, src=%x
  nki.return
}
