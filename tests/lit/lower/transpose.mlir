// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// nc_transpose: the Tensor Engine from SBUF to PSUM, else the Vector Engine.
// CHECK: kernel engines, trn3 (NeuronCore-v4)
// CHECK-NEXT: 5 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 128 of 245752 bytes per partition, PSUM 128 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:32, float32], value=0 signal(1) transpose.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(tensor>=1) TRANSPOSE dst=x[sbuf 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32] transpose.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 TRANSPOSE dst=x[sbuf 0, 0:32, 1:32, float32], data=p[psum 0, 0:32, 1:32, float32] transpose.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 TRANSPOSE dst=p[psum 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32] transpose.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 1 instruction
// CHECK-NEXT: 1 wait(vector>=1) TRANSPOSE dst=p[psum 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32] signal(1) transpose.mlir:{{[0-9]+}}
nki.kernel @engines() target=trn3 {
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %p = nki.alloc : memref<32x32xf32, #nki.psum>
  nisa.memset dst=%x, value=0
  nisa.nc_transpose dst=%p, data=%x
  nisa.nc_transpose dst=%x, data=%x
  nisa.nc_transpose dst=%x, data=%p
  nisa.nc_transpose dst=%p, data=%x, engine=vector
  nki.return
}
