// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A DMA that adds on its way, and one that transposes. Rows that indices name are read by the DMA.
// CHECK: kernel computes, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 68 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=rows[sbuf 0, 0:16, 1:1, int32], value=0 indirect.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=data[sbuf 4, 0:16, 1:8, float32], value=0 signal(1) indirect.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 2 wait(vector>=1) DMA_TRIGGER transfer=dma_gpsimd @3 indirect.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_gpsimd: 1 instruction
// CHECK-NEXT: 3 DMA_COMPUTE dst=data[sbuf 4, 0:16, 1:8, float32], srcs=data[sbuf 4, 0:16, 1:8, float32], srcs=x[private_hbm 0 + vector rows[sbuf 0, 0:16, 1:1, int32]*32, 8:16 1:8, float32], reduce_op=add, scales=[1.0, 1.0] indirect.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 1 instruction
// CHECK-NEXT: 4 DMA_TRIGGER transfer=dma_load @5 indirect.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 5 DMA_TRANSPOSE dst=t[sbuf 36, 0:8, 1:16, bfloat16], src=y[private_hbm 0, 8:16 1:8, bfloat16] indirect.mlir:{{[0-9]+}}
nki.kernel @computes(%x: memref<64x8xf32, #nki.private_hbm>, %y: memref<16x8xbf16, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %t = nki.alloc : memref<8x16xbf16, #nki.sbuf>
  nisa.memset dst=%rows, value=0
  nisa.memset dst=%data, value=0
  %named = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_compute dst=%data, srcs=[%data, %named], reduce_op=add, scales=[1.0, 1.0]
  nisa.dma_transpose dst=%t, src=%y
  nki.return
}
