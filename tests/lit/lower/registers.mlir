// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Registers belong to no engine: others see them by semaphores. An address that a register holds is
// read by the trigger of a DMA.
// CHECK: kernel moves, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 36 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=tile[sbuf 0, 0:1, 1:1, int32], value=0 signal(1) registers.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 4 instructions
// CHECK-NEXT: 1 wait(vector>=1) REGISTER_LOAD dst=r, src=tile[sbuf 0, 0:1, 1:1, int32] registers.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 REGISTER_MOVE dst=s, src=r registers.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 REGISTER_STORE dst=tile[sbuf 0, 0:1, 1:1, int32], src=s registers.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 DMA_TRIGGER transfer=dma_load @5 registers.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 5 DMA_COPY dst=row[sbuf 4, 0:1, 1:8, float32], src=x[private_hbm 0 + scalar s*32, 8:1 1:8, float32] registers.mlir:{{[0-9]+}}
nki.kernel @moves(%x: memref<4x8xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %row = nki.alloc : memref<1x8xf32, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  %r = nki.register
  %s = nki.register
  nisa.register_load dst=%r, src=%tile
  nisa.register_move dst=%s, src=%r
  nisa.register_store dst=%tile, src=%s
  %named = nki.view %x offset=0 pattern=[[8, 1], [1, 8]] scalar=%s scale=8 bound=4
  nisa.dma_copy dst=%row, src=%named
  nki.return
}
