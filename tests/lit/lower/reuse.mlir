// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Two tiles that do not fit together share bytes, and the one that comes later waits for who has used the
// earlier one, though nothing flows between them.
// CHECK: kernel shared, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 160000 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:40000, float32], value=1 signal(1) reuse.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 1 wait(vector>=1) DMA_TRIGGER transfer=dma_store @2 reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(gpsimd>=1) DMA_TRIGGER transfer=dma_store @5 reuse.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 2 instructions
// CHECK-NEXT: 2 DMA_COPY dst=out[shared_hbm 0, 40000:128 1:40000, float32], src=a[sbuf 0, 0:128, 1:40000, float32] signal(1) reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DMA_COPY dst=out[shared_hbm 0, 40000:128 1:40000, float32], src=b[sbuf 0, 0:128, 1:40000, float32] reuse.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 3 wait(dma_store>=1) MEMSET dst=b[sbuf 0, 0:128, 1:40000, float32], value=2 signal(1) reuse.mlir:{{[0-9]+}}
nki.kernel @shared() target=trn3 {
  %out = nki.alloc : memref<128x40000xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x40000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x40000xf32, #nki.sbuf>
  nisa.memset dst=%a, value=1
  nisa.dma_copy dst=%out, src=%a
  nisa.memset dst=%b, value=2, engine=gpsimd
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// Addresses that the author fixed stay.
// CHECK: kernel fixed, trn3 (NeuronCore-v4)
// CHECK-NEXT: 2 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 1152 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 1024, 64:128, 1:32, float32], value=1 reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=x[sbuf 1088, 64:128, 1:16, float32], value=2 reuse.mlir:{{[0-9]+}}
nki.kernel @fixed() target=trn3 {
  %x = nki.alloc address=[64, 1024] : memref<64x32xf32, #nki.sbuf>
  %half = nki.view %x offset=16 pattern=[[32, 64], [1, 16]]
  nisa.memset dst=%x, value=1
  nisa.memset dst=%half, value=2
  nki.return
}

// Tiles of more than half a bank of PSUM have a bank each while there are enough.
// CHECK: kernel banks, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 1280 of 245752 bytes per partition, PSUM 4608 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:128, bfloat16], value=0 signal(1) reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=b[sbuf 256, 0:128, 1:512, bfloat16], value=0 signal(2) reuse.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 4 instructions
// CHECK-NEXT: 2 wait(vector>=1) LOAD_STATIONARY stationary=a[sbuf 0, 0:128, 1:128, bfloat16] reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=2) MULTIPLY_MOVING dst=c[psum 0, 0:128, 1:512, float32], moving=b[sbuf 256, 0:128, 1:512, bfloat16], weights=@2 reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 MULTIPLY_MOVING dst=d[psum 2048, 0:128, 1:512, float32], moving=b[sbuf 256, 0:128, 1:512, bfloat16], weights=@2 reuse.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 MULTIPLY_MOVING dst=e[psum 4096, 0:128, 1:128, float32], moving=b[sbuf 256, 0:128, 1:128, bfloat16], weights=@2 reuse.mlir:{{[0-9]+}}
nki.kernel @banks() target=trn3 {
  %a = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %c = nki.alloc : memref<128x512xf32, #nki.psum>
  %d = nki.alloc : memref<128x512xf32, #nki.psum>
  %e = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  %b_part = nki.view %b offset=0 pattern=[[512, 128], [1, 128]]
  nisa.nc_matmul dst=%c, stationary=%a, moving=%b
  nisa.nc_matmul dst=%d, stationary=%a, moving=%b
  nisa.nc_matmul dst=%e, stationary=%a, moving=%b_part
  nki.return
}

// A kernel without instructions.
// CHECK: kernel nothing, trn1 (NeuronCore-v2)
// CHECK-NEXT: 0 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 0 of 180224 bytes per partition, PSUM 0 of 16384
nki.kernel @nothing() target=inf2 {
  
  nki.return
}
