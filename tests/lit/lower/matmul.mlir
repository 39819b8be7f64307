// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s
// RUN: nkijit-opt -p allocate,lower-to-engines,schedule -t nki-listing %s | filecheck --match-full-lines %s

// A matmul loads its stationary tile, unless the array still has it, then streams the moving one.
// A transpose needs the array for itself, so the tile is loaded again behind it; also when the tile has
// been written anew.
// CHECK: kernel loads, trn3 (NeuronCore-v4)
// CHECK-NEXT: 11 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 640 of 245752 bytes per partition, PSUM 4352 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:64, bfloat16], value=0 signal(1) matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=b[sbuf 128, 0:128, 1:256, bfloat16], value=0 signal(2) matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 wait(tensor>=1) MEMSET dst=a[sbuf 0, 0:128, 1:64, bfloat16], value=1 signal(3) matmul.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 8 instructions
// CHECK-NEXT: 2 wait(vector>=1) LOAD_STATIONARY stationary=a[sbuf 0, 0:128, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=2) MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=b[sbuf 128, 0:128, 1:256, bfloat16], weights=@2 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 MULTIPLY_MOVING dst=d[psum 2048, 0:64, 1:256, float32], moving=b[sbuf 128, 0:128, 1:256, bfloat16], weights=@2 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 TRANSPOSE dst=t[psum 4096, 0:64, 1:128, bfloat16], data=a[sbuf 0, 0:128, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 LOAD_STATIONARY stationary=a[sbuf 0, 0:128, 1:64, bfloat16] signal(1) matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=b[sbuf 128, 0:128, 1:256, bfloat16], accumulate=false, weights=@6 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 wait(vector>=3) LOAD_STATIONARY stationary=a[sbuf 0, 0:128, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 MULTIPLY_MOVING dst=d[psum 2048, 0:64, 1:256, float32], moving=b[sbuf 128, 0:128, 1:256, bfloat16], accumulate=false, weights=@9 matmul.mlir:{{[0-9]+}}
nki.kernel @loads() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %c = nki.alloc : memref<64x256xf32, #nki.psum>
  %d = nki.alloc : memref<64x256xf32, #nki.psum>
  %t = nki.alloc : memref<64x128xbf16, #nki.psum>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.nc_matmul dst=%c, stationary=%a, moving=%b
  nisa.nc_matmul dst=%d, stationary=%a, moving=%b
  nisa.nc_transpose dst=%t, data=%a
  nisa.nc_matmul dst=%c, stationary=%a, moving=%b, accumulate=false
  nisa.memset dst=%a, value=1
  nisa.nc_matmul dst=%d, stationary=%a, moving=%b, accumulate=false
  nki.return
}

// Two places of the array hold a stationary tile each. One that takes all of it displaces both.
// CHECK: kernel places, trn2 (NeuronCore-v3)
// CHECK-NEXT: 12 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 768 of 212984 bytes per partition, PSUM 5120 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:64, 1:64, bfloat16], value=0 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=b[sbuf 128, 0:128, 1:64, bfloat16], value=0 signal(1) matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=m[sbuf 256, 0:128, 1:256, bfloat16], value=0 signal(2) matmul.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 9 instructions
// CHECK-NEXT: 3 wait(vector>=1) LOAD_STATIONARY stationary=b[sbuf 128, 0:64, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(vector>=2) MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=m[sbuf 256, 0:64, 1:256, bfloat16], tile_position=[0, 0], tile_size=[64, 64], weights=@3 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 LOAD_STATIONARY stationary=b[sbuf 128, 64:128, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 MULTIPLY_MOVING dst=d[psum 2048, 0:64, 1:256, float32], moving=m[sbuf 256, 64:128, 1:256, bfloat16], tile_position=[64, 0], tile_size=[64, 64], weights=@5 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=m[sbuf 256, 0:64, 1:256, bfloat16], accumulate=false, tile_position=[0, 0], tile_size=[64, 64], weights=@3 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 LOAD_STATIONARY stationary=b[sbuf 128, 0:128, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 MULTIPLY_MOVING dst=e[psum 4096, 0:64, 1:256, float32], moving=m[sbuf 256, 0:128, 1:256, bfloat16], weights=@8 matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 LOAD_STATIONARY stationary=b[sbuf 128, 0:64, 1:64, bfloat16] matmul.mlir:{{[0-9]+}}
// CHECK-NEXT: 11 MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=m[sbuf 256, 0:64, 1:256, bfloat16], accumulate=false, tile_position=[0, 0], tile_size=[64, 64], weights=@10 matmul.mlir:{{[0-9]+}}
nki.kernel @places() target=trn2 {
  %a = nki.alloc : memref<64x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %m = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %c = nki.alloc : memref<64x256xf32, #nki.psum>
  %d = nki.alloc : memref<64x256xf32, #nki.psum>
  %e = nki.alloc : memref<64x256xf32, #nki.psum>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%m, value=0
  %b_top = nki.view %b offset=0 pattern=[[64, 64], [1, 64]]
  %b_low = nki.view %b offset=4096 pattern=[[64, 64], [1, 64]]
  %m_top = nki.view %m offset=0 pattern=[[256, 64], [1, 256]]
  %m_low = nki.view %m offset=16384 pattern=[[256, 64], [1, 256]]
  nisa.nc_matmul dst=%c, stationary=%b_top, moving=%m_top, tile_position=[0, 0], tile_size=[64, 64]
  nisa.nc_matmul dst=%d, stationary=%b_low, moving=%m_low, tile_position=[64, 0], tile_size=[64, 64]
  nisa.nc_matmul dst=%c, stationary=%b_top, moving=%m_top, tile_position=[0, 0], tile_size=[64, 64], accumulate=false
  nisa.nc_matmul dst=%e, stationary=%b, moving=%m
  nisa.nc_matmul dst=%c, stationary=%b_top, moving=%m_top, tile_position=[0, 0], tile_size=[64, 64], accumulate=false
  nki.return
}
