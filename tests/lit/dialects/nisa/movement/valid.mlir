// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Copies and constants: the nearest legal neighbours of the kernels in invalid.mlir, by the same
// names.

// CHECK: no findings

// -------------------- nisa.dma_copy

// SBUF and HBM, in any combination.
nki.kernel @dma_copy_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%far, src=%tile
  nisa.dma_copy dst=%tile, src=%far
  nki.return
}

// As many; shapes may differ altogether.
nki.kernel @dma_copy_size() target=trn3 {
  %dst = nki.alloc : memref<32x256xf32, #nki.sbuf>
  %src = nki.alloc : memref<8192xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src
  nki.return
}

// A copy without conversion.
nki.kernel @dma_copy_packed() target=trn3 {
  %packed = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %other = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.private_hbm>
  nisa.dma_copy dst=%packed, src=%other
  nisa.dma_copy dst=%other, src=%packed
  nki.return
}

// The one in software is in all generations.
nki.kernel @dma_copy_hwdge() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, dge_mode=swdge
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @dma_copy_priority_generation() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, priority=0
  nki.return
}

// The limits.
nki.kernel @dma_copy_priority() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, priority=3
  nisa.dma_copy dst=%dst, src=%src, priority=0
  nki.return
}

// They do.
nki.kernel @dma_copy_engine_without_hwdge() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=sync
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=scalar
  nisa.dma_copy dst=%dst, src=%src, dge_mode=none
  nki.return
}

// The Sync and the Scalar Engine have.
nki.kernel @dma_copy_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=sync
  nisa.dma_copy dst=%dst, src=%src, dge_mode=hwdge, engine=scalar
  nki.return
}

// Software would, and the bits are viewed as what they are.
nki.kernel @dma_copy_hwdge_dtype() target=trn3 {
  %low = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bits = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %viewed = nki.view %bits offset=0 pattern=[[64, 128], [1, 64]] as f32
  nisa.dma_copy dst=%low, src=%src, dge_mode=swdge
  nisa.dma_copy dst=%viewed, src=%src, dge_mode=hwdge
  nki.return
}

// -------------------- nisa.tensor_copy

// The same number.
nki.kernel @tensor_copy_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src
  nki.return
}

// As many elements per partition.
nki.kernel @tensor_copy_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src
  nki.return
}

// The Vector Engine, or the Scalar Engine.
nki.kernel @tensor_copy_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src, engine=vector
  nisa.tensor_copy dst=%dst, src=%src, engine=scalar
  nki.return
}

// The Scalar Engine reaches PSUM.
nki.kernel @tensor_copy_gpsimd_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_copy dst=%far, src=%tile, engine=scalar
  nisa.tensor_copy dst=%tile, src=%far, engine=scalar
  nki.return
}

// The GpSimd Engine has.
nki.kernel @tensor_copy_scalar_engine() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%dst, src=%src, engine=gpsimd
  nki.return
}

// -------------------- nisa.memset

// To 0, as an integer or a float.
nki.kernel @memset_packed() target=trn3 {
  %dst = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.memset dst=%dst, value=0
  nisa.memset dst=%dst, value=0.0
  nki.return
}

// To an integer; a float tile takes both.
nki.kernel @memset_integers() target=trn3 {
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%ints, value=2
  nisa.memset dst=%bytes, value=0
  nisa.memset dst=%tile, value=2
  nisa.memset dst=%tile, value=0.5
  nki.return
}

nki.kernel @dma_copy_vector_dge(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_copy dst=%tile, src=%view, dge_mode=swdge
  nisa.dma_copy dst=%view, src=%tile
  nki.return
}

nki.kernel @transposed_copies(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %wide = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %deep = nki.alloc : memref<128x8x8xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%x
  nisa.tensor_copy dst=%wide, src=%deep
  nki.return
}

// The rows are chosen by indices; a static copy with the default.
nki.kernel @dma_copy_no_effect(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %rows = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] vector=%rows scale=64 bound=128
  nisa.dma_copy dst=%tile, src=%view, oob_mode=skip
  nisa.dma_copy dst=%tile, src=%x, oob_mode=error
  nki.return
}
