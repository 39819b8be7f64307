// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Copies and constants: what the rules forbid. A kernel here breaks one rule, for one operand or
// argument after the other; where it cannot break one alone, its comment says so. The kernel of
// the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.dma_copy

// 'dst', then 'src', is in PSUM, which DMA does not reach.
// CHECK: error[buffer]: nisa.dma_copy: 'dst' must be in hbm or sbuf, it is in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%far, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.tensor_copy
// CHECK: error[buffer]: nisa.dma_copy: 'src' must be in hbm or sbuf, it is in psum
nki.kernel @dma_copy_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.dma_copy dst=%far, src=%tile
  nisa.dma_copy dst=%tile, src=%far
  nki.return
}

// 'dst' has half of the elements.
// CHECK: error[size-match]: nisa.dma_copy: different numbers of elements: 'src' has 8192, 'dst' has 4096
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, private_hbm 8192 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger tensor to the size of the smaller
nki.kernel @dma_copy_size() target=trn3 {
  %dst = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<8192xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src
  nki.return
}

// A packed type would be converted, from or to.
// CHECK: error[dtype-computable]: nisa.dma_copy: engines do not convert 'dst', a float8_e4m3fn_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%packed, src=%other
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed, sbuf 128x64 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.dma_copy: engines do not convert 'src', a float8_e4m3fn_x4
nki.kernel @dma_copy_packed() target=trn3 {
  %packed = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%packed, src=%other
  nisa.dma_copy dst=%other, src=%packed
  nki.return
}

// The descriptor generation engine in hardware is new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.dma_copy: dge_mode.hwdge needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the argument at its default, or trace for a newer target with platform_target=
nki.kernel @dma_copy_hwdge() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge
  nki.return
}

// Priorities are new in NeuronCore-v4, even the highest, 0.
// CHECK: error[argument-generation]: nisa.dma_copy: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @dma_copy_priority_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, priority=0
  nki.return
}

// Priorities are 0 to 3.
// CHECK: error[dma-arguments]: nisa.dma_copy: 'priority' must be 0 to 3, it is 4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%dst, src=%src, priority=4
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave priority= and engine= out; or pass priority=0 to 3, and engine=nisa.engine.sync together with dge_mode=nisa.dge_mode.hwdge
// CHECK: error[dma-arguments]: nisa.dma_copy: 'priority' must be 0 to 3, it is -1
nki.kernel @dma_copy_priority() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, priority=4
  nisa.dma_copy dst=%dst, src=%src, priority=-1
  nki.return
}

// An engine is named while descriptors do not come from the hardware.
// CHECK: error[dma-arguments]: nisa.dma_copy: 'engine' goes with dge_mode.hwdge only, 'dge_mode' is unknown
// CHECK: error[dma-arguments]: nisa.dma_copy: 'engine' goes with dge_mode.hwdge only, 'dge_mode' is swdge
// CHECK: error[dma-arguments]: nisa.dma_copy: 'engine' goes with dge_mode.hwdge only, 'dge_mode' is none
nki.kernel @dma_copy_engine_without_hwdge() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, engine=sync
  nisa.dma_copy dst=%dst, src=%src, dge_mode=swdge, engine=scalar
  nisa.dma_copy dst=%dst, src=%src, dge_mode=none, engine=sync
  nki.return
}

// The GpSimd Engine, and the DMA rings themselves, have no such hardware.
// CHECK: error[dma-arguments]: nisa.dma_copy: 'engine' must be sync or scalar, it is gpsimd
// CHECK: error[dma-arguments]: nisa.dma_copy: 'engine' must be sync or scalar, it is dma
nki.kernel @dma_copy_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=gpsimd
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=dma
  nki.return
}

// The hardware would convert float32, or take its bits for those of integers.
// CHECK: error[hwdge-dtype]: nisa.dma_copy: with dge_mode.hwdge nothing is converted, 'dst' is bfloat16, 'src' is float32
// CHECK: error[hwdge-dtype]: nisa.dma_copy: with dge_mode.hwdge nothing is converted, 'dst' is uint32, 'src' is float32
nki.kernel @dma_copy_hwdge_dtype() target=trn3 {
  %low = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bits = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%low, src=%src, dge_mode=hwdge
  nisa.dma_copy dst=%bits, src=%src, dge_mode=hwdge
  nki.return
}

// -------------------- nisa.tensor_copy

// 'dst' has fewer partitions than 'src'.
// CHECK: error[partitions-match]: nisa.tensor_copy: different numbers of partitions: 'src' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read src[0:64] only
nki.kernel @tensor_copy_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src
  nki.return
}

// A column is not broadcast.
// CHECK: error[free-size-match]: nisa.tensor_copy: different numbers of elements per partition: 'src' has 1, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x1 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: repeat the element in each partition, src.broadcast(1, 64)
nki.kernel @tensor_copy_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src
  nki.return
}

// The Tensor Engine, or the Sync Engine, is asked for.
// CHECK: error[engine]: nisa.tensor_copy: the instruction runs on vector, scalar or gpsimd, not on tensor
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%dst, src=%src, engine=tensor
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave engine= out, or pass one that the message lists
// CHECK: error[engine]: nisa.tensor_copy: the instruction runs on vector, scalar or gpsimd, not on sync
nki.kernel @tensor_copy_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src, engine=tensor
  nisa.tensor_copy dst=%dst, src=%src, engine=sync
  nki.return
}

// The GpSimd Engine is asked for while 'dst', then 'src', is in PSUM.
// CHECK: error[gpsimd-psum]: nisa.tensor_copy: the GpSimd Engine cannot reach PSUM, but 'dst' is in PSUM
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%far, src=%tile, engine=gpsimd
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: copy the tile to SBUF first with nisa.tensor_copy, or leave engine= to another engine
// CHECK: error[gpsimd-psum]: nisa.tensor_copy: the GpSimd Engine cannot reach PSUM, but 'src' is in PSUM
nki.kernel @tensor_copy_gpsimd_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_copy dst=%far, src=%tile, engine=gpsimd
  nisa.tensor_copy dst=%tile, src=%far, engine=gpsimd
  nki.return
}

// On NeuronCore-v2 the Scalar Engine has no tensor_copy.
// CHECK: error[argument-generation]: nisa.tensor_copy: tensor_copy on the Scalar Engine needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @tensor_copy_scalar_engine() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src, engine=scalar
  nki.return
}

// -------------------- nisa.memset

// A tile of a packed type is set to something other than 0.
// CHECK: error[memset-packed]: nisa.memset: 'dst' is float8_e5m2_x4 and can only be set to 0, 'value' is 1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%dst, value=1
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: set it to 0, or write the packed bits through a view of an integer type
// CHECK: error[memset-packed]: nisa.memset: 'dst' is float8_e5m2_x4 and can only be set to 0, 'value' is 0.5
nki.kernel @memset_packed() target=trn3 {
  %dst = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.memset dst=%dst, value=1
  nisa.memset dst=%dst, value=0.5
  nki.return
}

// An integer tile is set to a fraction; to an integer that is written as a float.
// CHECK: error[memset-dtype]: nisa.memset: 'dst' is int32, but 'value' is the float 2.5
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%ints, value=2.5
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %ints, sbuf 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: write an integer, or allocate 'dst' as nl.float32 to hold 2.5
// CHECK: warning[memset-float]: nisa.memset: 'dst' is uint8, but 'value' is the float 0.0
nki.kernel @memset_integers() target=trn3 {
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.memset dst=%ints, value=2.5
  nisa.memset dst=%bytes, value=0.0
  nki.return
}


// A vector of indices needs descriptors that software makes.
// CHECK: error[vector-dge]: nisa.dma_copy: 'dge_mode' is hwdge, a vector of indices needs swdge or unknown
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%tile, src=%view, dge_mode=hwdge
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave dge_mode out, or pass dge_mode=nisa.dge_mode.swdge
// CHECK: error[vector-dge]: nisa.dma_copy: 'dge_mode' is none, a vector of indices needs swdge or unknown
nki.kernel @dma_copy_vector_dge(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_copy dst=%tile, src=%view, dge_mode=hwdge
  nisa.dma_copy dst=%view, src=%tile, dge_mode=none
  nki.return
}

// The dimensions of the source in another order: a copy does not transpose.
// CHECK: warning[transposed-copy]: nisa.dma_copy: 'dst' has shape (128, 64) and 'src' (64, 128): the elements are copied in row-major order, not transposed
// CHECK: warning[transposed-copy]: nisa.tensor_copy: 'dst' has shape (128, 4, 16) and 'src' (128, 16, 4): the elements are copied in row-major order, not transposed
nki.kernel @transposed_copies(%x: memref<64x128xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %wide = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %deep = nki.alloc : memref<128x16x4xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%x
  nisa.tensor_copy dst=%wide, src=%deep
  nki.return
}

// All addresses are known, so no element can be out of bounds.
// CHECK: warning[no-effect]: nisa.dma_copy: 'oob_mode' has no effect, as no tile is addressed by an index that is known only at run time
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%tile, src=%x, oob_mode=skip
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: address a tile with an index in a register or a tile, or leave oob_mode out
nki.kernel @dma_copy_no_effect(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%x, oob_mode=skip
  nki.return
}

// CHECK: 28 errors and 4 warnings
