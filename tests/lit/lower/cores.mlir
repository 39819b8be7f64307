// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Each core has its queues. Cores meet in a barrier, which is started by the engine that the author names,
// and exchange tiles by DMA.
// CHECK: kernel meet_core0, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 1 wait(vector>=1) DMA_TRIGGER transfer=dma_copy @2 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_store @4 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 wait(gpsimd>=1) DMA_TRIGGER transfer=dma_load @7 cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 1 instruction
// CHECK-NEXT: 2 SENDRECV dst=b[sbuf 256, 0:128, 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32], send_to_rank=1, recv_from_rank=1, pipe_id=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 4 DMA_COPY dst=x[shared_hbm 0, 64:64 1:64, float32], src=b[sbuf 256, 0:64, 1:64, float32] signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 5 wait(dma_store>=1) CORE_BARRIER data=x[shared_hbm 0, 64:128 1:64, float32], cores=[0, 1] signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 7 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[shared_hbm 0, 64:128 1:64, float32] cores.mlir:{{[0-9]+}}
nki.kernel @meet_core0() target=trn3 program=[0, 2] {
  %x = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  %half = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
  %part = nki.view %b offset=0 pattern=[[64, 64], [1, 64]]
  nisa.dma_copy dst=%half, src=%part
  nisa.core_barrier data=%x, cores=[0, 1]
  nisa.dma_copy dst=%a, src=%x
  nki.return
}

// The other core.
// CHECK: kernel meet_core1, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 1 wait(vector>=1) DMA_TRIGGER transfer=dma_copy @2 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_store @4 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 wait(gpsimd>=1) DMA_TRIGGER transfer=dma_load @7 cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 1 instruction
// CHECK-NEXT: 2 SENDRECV dst=b[sbuf 256, 0:128, 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32], send_to_rank=0, recv_from_rank=0, pipe_id=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 4 DMA_COPY dst=x[shared_hbm 16384, 64:64 1:64, float32], src=b[sbuf 256, 0:64, 1:64, float32] signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 5 wait(dma_store>=1) CORE_BARRIER data=x[shared_hbm 0, 64:128 1:64, float32], cores=[0, 1] signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 7 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[shared_hbm 0, 64:128 1:64, float32] cores.mlir:{{[0-9]+}}
nki.kernel @meet_core1() target=trn3 program=[1, 2] {
  %x = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=0
  %half = nki.view %x offset=4096 pattern=[[64, 64], [1, 64]]
  %part = nki.view %b offset=0 pattern=[[64, 64], [1, 64]]
  nisa.dma_copy dst=%half, src=%part
  nisa.core_barrier data=%x, cores=[0, 1]
  nisa.dma_copy dst=%a, src=%x
  nki.return
}

// Who waits for another core keeps its place among the DMAs, though a later one could begin earlier:
// cores that met in another order would wait for each other.
// CHECK: kernel swaps_core0, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 4160 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=d[sbuf 0, 0:128, 1:8, float32], value=0 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=a[sbuf 32, 0:128, 1:512, float32], value=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 2 instructions
// CHECK-NEXT: 2 LOAD_TABLE table=exp cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=1) ACTIVATE dst=a[sbuf 32, 0:128, 1:512, float32], data=a[sbuf 32, 0:128, 1:512, float32], op=exp signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 4 wait(scalar>=1) DMA_TRIGGER transfer=dma_copy @5 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 DMA_TRIGGER transfer=dma_copy @7 cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 2 instructions
// CHECK-NEXT: 5 SENDRECV dst=b[sbuf 2080, 0:128, 1:512, float32], src=a[sbuf 32, 0:128, 1:512, float32], send_to_rank=1, recv_from_rank=1, pipe_id=0 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 SENDRECV dst=c[sbuf 4128, 0:128, 1:8, float32], src=d[sbuf 0, 0:128, 1:8, float32], send_to_rank=1, recv_from_rank=1, pipe_id=1 cores.mlir:{{[0-9]+}}
nki.kernel @swaps_core0() target=trn3 program=[0, 2] {
  %d = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x8xf32, #nki.sbuf>
  nisa.memset dst=%d, value=0
  nisa.memset dst=%a, value=0
  nisa.activation dst=%a, op=exp, data=%a
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%d, dst=%c, send_to_rank=1, recv_from_rank=1, pipe_id=1
  nki.return
}

// The other core.
// CHECK: kernel swaps_core1, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 4160 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=d[sbuf 0, 0:128, 1:8, float32], value=0 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=a[sbuf 32, 0:128, 1:512, float32], value=0 signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 2 instructions
// CHECK-NEXT: 2 LOAD_TABLE table=exp cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=1) ACTIVATE dst=a[sbuf 32, 0:128, 1:512, float32], data=a[sbuf 32, 0:128, 1:512, float32], op=exp signal(1) cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 4 wait(scalar>=1) DMA_TRIGGER transfer=dma_copy @5 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 DMA_TRIGGER transfer=dma_copy @7 cores.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 2 instructions
// CHECK-NEXT: 5 SENDRECV dst=b[sbuf 2080, 0:128, 1:512, float32], src=a[sbuf 32, 0:128, 1:512, float32], send_to_rank=0, recv_from_rank=0, pipe_id=0 cores.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 SENDRECV dst=c[sbuf 4128, 0:128, 1:8, float32], src=d[sbuf 0, 0:128, 1:8, float32], send_to_rank=0, recv_from_rank=0, pipe_id=1 cores.mlir:{{[0-9]+}}
nki.kernel @swaps_core1() target=trn3 program=[1, 2] {
  %d = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x8xf32, #nki.sbuf>
  nisa.memset dst=%d, value=0
  nisa.memset dst=%a, value=0
  nisa.activation dst=%a, op=exp, data=%a
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=0
  nisa.sendrecv src=%d, dst=%c, send_to_rank=0, recv_from_rank=0, pipe_id=1
  nki.return
}
