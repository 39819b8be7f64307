// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Transposes by DMA: the nearest legal neighbours of the kernels in invalid.mlir, by the same
// names.

// CHECK: no findings

// -------------------- nisa.dma_transpose

// From HBM or SBUF to SBUF.
nki.kernel @dma_transpose_buffers() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %out = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %near = nki.alloc : memref<16x128xbf16, #nki.sbuf>
  nisa.dma_transpose dst=%out, src=%src
  nisa.dma_transpose dst=%dst, src=%near
  nki.return
}

// The same type on both sides.
nki.kernel @dma_transpose_same_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nki.return
}

// 2 or 4 bytes are, whatever they hold.
nki.kernel @dma_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %words = nki.alloc : memref<128x16xi32, #nki.sbuf>
  %from_words = nki.alloc : memref<16x128xi32, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%words, src=%from_words
  nki.return
}

// Two to four.
nki.kernel @dma_transpose_rank() target=trn3 {
  %dst = nki.alloc : memref<128x2x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x2x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x2x3x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst_4, src=%src_4
  nki.return
}

// The one for the rank.
nki.kernel @dma_transpose_axes() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %dst_3 = nki.alloc : memref<128x2x16xbf16, #nki.sbuf>
  %src_3 = nki.alloc : memref<16x2x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x2x3x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, axes=[1, 0]
  nisa.dma_transpose dst=%dst_3, src=%src_3, axes=[2, 1, 0]
  nisa.dma_transpose dst=%dst_4, src=%src_4, axes=[3, 1, 2, 0]
  nki.return
}

// Every dimension is where the permutation puts it.
nki.kernel @dma_transpose_shape() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x2x3x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst_4, src=%src_4
  nki.return
}

// trn2 is NeuronCore-v3.
nki.kernel @dma_transpose_hwdge() target=trn2 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @dma_transpose_priority_generation() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, priority=0
  nki.return
}

// 0 to 3.
nki.kernel @dma_transpose_priority() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, priority=3
  nisa.dma_transpose dst=%dst, src=%src, priority=0
  nki.return
}

// Left to the compiler, or to hardware DGE.
nki.kernel @dma_transpose_mode() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// 16; with more dimensions 8 times 2 will do.
nki.kernel @dma_transpose_hwdge_rows() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %more = nki.alloc : memref<128x2x8xbf16, #nki.sbuf>
  %from_more = nki.alloc : memref<8x2x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nisa.dma_transpose dst=%more, src=%from_more, dge_mode=hwdge
  nki.return
}

// 4 and 4 make 16, 2 and 3 * 8 make 48.
nki.kernel @dma_transpose_hwdge_block() target=trn3 {
  %dst = nki.alloc : memref<128x4x4xbf16, #nki.sbuf>
  %src = nki.alloc : memref<4x4x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x5x24x2xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<2x5x24x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nisa.dma_transpose dst=%dst_4, src=%src_4, dge_mode=hwdge
  nki.return
}

// 128 are possible.
nki.kernel @dma_transpose_hwdge_columns() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// 2 bytes.
nki.kernel @dma_transpose_hwdge_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xui16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xui16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}
