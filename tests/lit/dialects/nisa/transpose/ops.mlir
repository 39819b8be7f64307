// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of transposes by DMA: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @dma_transpose() target=trn3 {
nki.kernel @dma_transpose() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  // CHECK: nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst, src=%src
  // All arguments.
  // CHECK-NEXT: nisa.dma_transpose dst=%dst, src=%src, axes=[1, 0], priority=3, dge_mode=hwdge, oob_mode=skip, name="flip"
  nisa.dma_transpose dst=%dst, src=%src, axes=[1, 0], priority=3, dge_mode=hwdge, oob_mode=skip, name="flip"
  // The remaining words, and axes that no rule allows.
  // CHECK-NEXT: nisa.dma_transpose dst=%dst, src=%src, axes=[0, 1], dge_mode=swdge
  nisa.dma_transpose dst=%dst, src=%src, axes=[0, 1], dge_mode=swdge
  // CHECK-NEXT: nisa.dma_transpose dst=%dst, src=%src, axes=[], priority=0, dge_mode=none
  nisa.dma_transpose dst=%dst, src=%src, axes=[], priority=0, dge_mode=none
  // CHECK-NEXT: nki.return
  nki.return
}
