// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Transposes by DMA: what the rules forbid. A kernel here breaks one rule, for one operand or
// argument after the other; where it cannot break one alone, its comment says so. The kernel of
// the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.dma_transpose

// 'dst' is in HBM, 'src' in PSUM.
// CHECK: error[buffer]: nisa.dma_transpose: 'dst' must be in sbuf, it is in shared_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_transpose dst=%out, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %out, shared_hbm 128x16 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.dma_transpose: 'src' must be in hbm or sbuf, it is in psum
nki.kernel @dma_transpose_buffers() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %out = nki.alloc : memref<128x16xbf16, #nki.shared_hbm>
  %near = nki.alloc : memref<16x128xbf16, #nki.psum>
  nisa.dma_transpose dst=%out, src=%src
  nisa.dma_transpose dst=%dst, src=%near
  nki.return
}

// A transpose does not convert.
// CHECK: error[same-dtype]: nisa.dma_transpose: different data types: 'dst' is float16, 'src' is bfloat16
nki.kernel @dma_transpose_same_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nki.return
}

// Single bytes are not transposed.
// CHECK: error[dtype]: nisa.dma_transpose: 'src' must have elements of 2 or 4 bytes, it is float8_e5m2
nki.kernel @dma_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xf8E5M2, #nki.sbuf>
  %src = nki.alloc : memref<16x128xf8E5M2, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nki.return
}

// One dimension, or five, have no transpose.
// CHECK: error[transpose-axes]: nisa.dma_transpose: 'src' has 1 dimension, 2 to 4 can be transposed
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_transpose dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = src: %src, private_hbm 2048 bfloat16, allocated at {{.*}}
// CHECK-NEXT:   = help: leave axes= out, which reverses the dimensions, and loop over those that stay in place
// CHECK: error[transpose-axes]: nisa.dma_transpose: 'src' has 5 dimensions, 2 to 4 can be transposed
nki.kernel @dma_transpose_rank() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<2048xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x1x2x3x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x1x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst_4, src=%src_4
  nki.return
}

// Other permutations, or that of another rank.
// CHECK: error[transpose-axes]: nisa.dma_transpose: 'axes' must be (1, 0) for 2 dimensions, it is (0, 1)
// CHECK: error[transpose-axes]: nisa.dma_transpose: 'axes' must be (2, 1, 0) for 3 dimensions, it is (1, 0)
// CHECK: error[transpose-axes]: nisa.dma_transpose: 'axes' must be (3, 1, 2, 0) for 4 dimensions, it is (3, 2, 1, 0)
nki.kernel @dma_transpose_axes() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %dst_3 = nki.alloc : memref<128x2x16xbf16, #nki.sbuf>
  %src_3 = nki.alloc : memref<16x2x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x2x3x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, axes=[0, 1]
  nisa.dma_transpose dst=%dst_3, src=%src_3, axes=[1, 0]
  nisa.dma_transpose dst=%dst_4, src=%src_4, axes=[3, 2, 1, 0]
  nki.return
}

// 'dst' has the shape of 'src', or as many elements in fewer dimensions.
// CHECK: error[dma-transpose-shape]: nisa.dma_transpose: 'dst' must have shape (128, 16), it has (16, 128)
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_transpose dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = dst: %dst, sbuf 16x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT:   = src: %src, private_hbm 16x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT:   = help: allocate dst with the permuted shape of src
// CHECK: error[dma-transpose-shape]: nisa.dma_transpose: 'dst' must have shape (128, 2, 3, 16), it has (128, 6, 16)
nki.kernel @dma_transpose_shape() target=trn3 {
  %dst = nki.alloc : memref<16x128xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x6x16xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<16x2x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src
  nisa.dma_transpose dst=%dst_4, src=%src_4
  nki.return
}

// The descriptor generation engine in hardware is new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.dma_transpose: dge_mode.hwdge needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @dma_transpose_hwdge() target=trn1 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: nisa.dma_transpose: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @dma_transpose_priority_generation() target=trn2 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, priority=0
  nki.return
}

// There are four priorities.
// CHECK: error[dma-arguments]: nisa.dma_transpose: 'priority' must be 0 to 3, it is 4
// CHECK: error[dma-arguments]: nisa.dma_transpose: 'priority' must be 0 to 3, it is -1
nki.kernel @dma_transpose_priority() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, priority=4
  nisa.dma_transpose dst=%dst, src=%src, priority=-1
  nki.return
}

// Software DGE is for indirect sources, and so is skipping what is out of bounds.
// CHECK: error[dma-transpose-mode]: nisa.dma_transpose: 'dge_mode' must be unknown or hwdge, it is swdge
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_transpose dst=%dst, src=%src, dge_mode=swdge
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = help: leave dge_mode= and oob_mode= out
// CHECK: error[dma-transpose-mode]: nisa.dma_transpose: 'dge_mode' must be unknown or hwdge, it is none
// CHECK: error[dma-transpose-mode]: nisa.dma_transpose: 'oob_mode' must be error, it is skip
nki.kernel @dma_transpose_mode() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=swdge
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=none
  nisa.dma_transpose dst=%dst, src=%src, oob_mode=skip
  nki.return
}

// Hardware DGE takes 16 rows, not fewer and not more.
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge 'src' has 16 rows, not 8
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = src: %src, private_hbm 8x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT:   = help: leave dge_mode= out, or transpose in blocks of 16 rows
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge 'src' has 16 rows, not 32
nki.kernel @dma_transpose_hwdge_rows() target=trn3 {
  %dst = nki.alloc : memref<128x8xbf16, #nki.sbuf>
  %src = nki.alloc : memref<8x128xbf16, #nki.private_hbm>
  %more = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %from_more = nki.alloc : memref<32x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nisa.dma_transpose dst=%more, src=%from_more, dge_mode=hwdge
  nki.return
}

// Dim 0 is a divisor of 16, and together with dim -2 makes whole blocks.
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge dim 0 of 'src' is one of 1, 2, 4, 8, 16, not 3
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge dims 0 and -2 of 'src' make a multiple of 16 rows, not 8 * 3
nki.kernel @dma_transpose_hwdge_block() target=trn3 {
  %dst = nki.alloc : memref<128x16x3xbf16, #nki.sbuf>
  %src = nki.alloc : memref<3x16x128xbf16, #nki.private_hbm>
  %dst_4 = nki.alloc : memref<128x16x3x8xbf16, #nki.sbuf>
  %src_4 = nki.alloc : memref<8x16x3x128xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nisa.dma_transpose dst=%dst_4, src=%src_4, dge_mode=hwdge
  nki.return
}

// 129 columns are more than hardware DGE takes, and than SBUF has partitions.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 129
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge the last dimension of 'src' has at most 128 elements, not 129
nki.kernel @dma_transpose_hwdge_columns() target=trn3 {
  %dst = nki.alloc : memref<129x16xbf16, #nki.sbuf>
  %src = nki.alloc : memref<16x129xbf16, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// Hardware DGE takes 2 bytes, not 4.
// CHECK: error[hwdge-transpose]: nisa.dma_transpose: with hwdge 'src' has elements of 2 bytes, it is float32
nki.kernel @dma_transpose_hwdge_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %src = nki.alloc : memref<16x128xf32, #nki.private_hbm>
  nisa.dma_transpose dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// CHECK: 25 errors
