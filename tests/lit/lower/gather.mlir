// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Moves by indices. A gather of more than 512 elements per partition is several instructions.
// CHECK: kernel indices, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 9060 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:16, float32], value=0 gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=few[sbuf 64, 0:32, 1:2, uint16], value=0 signal(1) gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=many[sbuf 68, 0:32, 1:1100, uint32], value=0 signal(2) gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 STREAM_SHUFFLE dst=w[sbuf 4468, 0:32, 1:16, float32], src=x[sbuf 0, 0:32, 1:16, float32], shuffle_mask=[1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20, 23, 22, 25, 24, 27, 26, 29, 28, 31, 30] gather.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 4 instructions
// CHECK-NEXT: 4 wait(vector>=1) LOCAL_GATHER dst=y[sbuf 4532, 0:32, 1:32, float32], src_buffer=x[sbuf 0, 0:32, 1:16, float32], index=few[sbuf 64, 0:32, 1:2, uint16] gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(vector>=2) N_GATHER dst=z[sbuf 4660, 0:32, 1:1100, float32], data=x[sbuf 0, 0:32, 1:16, float32], indices=many[sbuf 68, 0:32, 1:1100, uint32], part=1 of 3 gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 N_GATHER dst=z[sbuf 4660, 0:32, 1:1100, float32], data=x[sbuf 0, 0:32, 1:16, float32], indices=many[sbuf 68, 0:32, 1:1100, uint32], part=2 of 3 gather.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 N_GATHER dst=z[sbuf 4660, 0:32, 1:1100, float32], data=x[sbuf 0, 0:32, 1:16, float32], indices=many[sbuf 68, 0:32, 1:1100, uint32], part=3 of 3 gather.mlir:{{[0-9]+}}
nki.kernel @indices() target=trn3 {
  %x = nki.alloc : memref<32x16xf32, #nki.sbuf>
  %few = nki.alloc : memref<32x2xui16, #nki.sbuf>
  %many = nki.alloc : memref<32x1100xui32, #nki.sbuf>
  %y = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %z = nki.alloc : memref<32x1100xf32, #nki.sbuf>
  %w = nki.alloc : memref<32x16xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%few, value=0
  nisa.memset dst=%many, value=0
  nisa.nc_stream_shuffle dst=%w, src=%x, shuffle_mask=[1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20, 23, 22, 25, 24, 27, 26, 29, 28, 31, 30]
  nisa.local_gather dst=%y, src_buffer=%x, index=%few
  nisa.nc_n_gather dst=%z, data=%x, indices=%many
  nki.return
}
