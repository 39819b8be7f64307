// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A DMA is started by the Sync Engine and runs in the ring of its direction.
// CHECK: kernel directions, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 4 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_copy @1 movement.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_load @3 movement.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(dma_load>=1) DMA_TRIGGER transfer=dma_copy @5 movement.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 wait(dma_copy>=2) DMA_TRIGGER transfer=dma_store @7 movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 2 instructions
// CHECK-NEXT: 1 DMA_COPY dst=scratch[private_hbm 0, 64:128 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) movement.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DMA_COPY dst=b[sbuf 256, 0:128, 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32] signal(2) movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 3 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=scratch[private_hbm 0, 64:128 1:64, float32] signal(1) movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 7 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, float32], src=b[sbuf 256, 0:128, 1:64, float32] movement.mlir:{{[0-9]+}}
nki.kernel @directions(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %scratch = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%scratch, src=%x
  nisa.dma_copy dst=%a, src=%scratch
  nisa.dma_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// The author's engine starts a DMA, and has a ring of its own. Software descriptors are made by the
// GpSimd Engine.
// CHECK: kernel engines, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 768 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 1 instruction
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_scalar @1 movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_scalar: 1 instruction
// CHECK-NEXT: 1 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32], dge_mode=hwdge, engine=scalar movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 1 instruction
// CHECK-NEXT: 2 DMA_TRIGGER transfer=dma_load @3 movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 3 DMA_COPY dst=b[sbuf 256, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32], dge_mode=hwdge, engine=sync movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 4 DMA_TRIGGER transfer=dma_gpsimd @5 movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_gpsimd: 1 instruction
// CHECK-NEXT: 5 DMA_COPY dst=c[sbuf 512, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32], dge_mode=swdge movement.mlir:{{[0-9]+}}
nki.kernel @engines(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x, engine=scalar, dge_mode=hwdge
  nisa.dma_copy dst=%b, src=%x, engine=sync, dge_mode=hwdge
  nisa.dma_copy dst=%c, src=%x, dge_mode=swdge
  nki.return
}

// Copies and fills run where the author wants, else on the Vector Engine.
// CHECK: kernel copies, trn3 (NeuronCore-v4)
// CHECK-NEXT: 4 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 128 of 245752 bytes per partition, PSUM 128 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:32, 1:32, float32], value=0 movement.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 TENSOR_COPY dst=p[psum 0, 0:32, 1:32, float32], src=a[sbuf 0, 0:32, 1:32, float32] signal(1) movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 1 instruction
// CHECK-NEXT: 2 wait(vector>=1) TENSOR_COPY dst=a[sbuf 0, 0:32, 1:32, float32], src=p[psum 0, 0:32, 1:32, float32] signal(1) movement.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 3 wait(scalar>=1) MEMSET dst=a[sbuf 0, 0:32, 1:32, float32], value=-0.5 movement.mlir:{{[0-9]+}}
nki.kernel @copies() target=trn3 {
  %a = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %p = nki.alloc : memref<32x32xf32, #nki.psum>
  nisa.memset dst=%a, value=0
  nisa.tensor_copy dst=%p, src=%a
  nisa.tensor_copy dst=%a, src=%p, engine=scalar
  nisa.memset dst=%a, value=-0.5, engine=gpsimd
  nki.return
}
