// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Indices: DMAs that gather and scatter rows, and tensor indirection. A kernel here breaks one rule
// in every way; the kernel of the same name in valid.mlir is its nearest legal neighbour.

// -------------------- nisa.dma_compute

// Elements correspond, whatever the shapes.
// CHECK: error[size-match]: nisa.dma_compute: different numbers of elements: 'srcs[0]' has 8192, 'srcs[1]' has 4096, 'dst' has 8192
nki.kernel @dma_compute_size() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %c = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<64x128xf32, #nki.sbuf>
  nisa.dma_compute dst=%dst, srcs=[%a, %c], reduce_op=add
  nki.return
}

// Packed types are not computed with.
// CHECK: error[dtype-computable]: nisa.dma_compute: engines do not convert 'srcs[1]', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.dma_compute: engines do not convert 'dst', a float8_e5m2_x4
nki.kernel @dma_compute_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %x = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.dma_compute dst=%dst, srcs=[%a, %x], reduce_op=add
  nisa.dma_compute dst=%x, srcs=[%a], reduce_op=add
  nki.return
}

// It adds 1 to 16 tensors, scaled by 1.
// CHECK: error[dma-compute]: nisa.dma_compute: 'reduce_op' must be nl.add, it is nl.maximum
// CHECK: error[dma-compute]: nisa.dma_compute: there are 17 sources, 16 at most
// CHECK: error[dma-compute]: nisa.dma_compute: 'scales' must be 1.0 for each source, it is [1.0, 2.0]
// CHECK: error[dma-compute]: nisa.dma_compute: 'scales' must be 1.0 for each source, it is [1.0]
// CHECK: error[dma-compute]: nisa.dma_compute: 'oob_mode' is skip, and no operand is addressed by indices
nki.kernel @dma_compute_arguments() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=maximum
  nisa.dma_compute dst=%dst, srcs=[%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a], reduce_op=add
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add, scales=[1.0, 2.0]
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add, scales=[1.0]
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add, oob_mode=skip
  nki.return
}

// Indices that repeat do not add up.
// CHECK: error[dma-compute]: nisa.dma_compute: 'unique_indices' is False, indices must be unique
nki.kernel @dma_compute_unique() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_compute dst=%view, srcs=[%view, %data], reduce_op=add, unique_indices=false
  nki.return
}

// With indices a tensor is added to another one in place.
// CHECK: error[dma-compute]: nisa.dma_compute: with indices there are two sources, not 3
// CHECK: error[dma-compute]: nisa.dma_compute: with indices there are two sources, not 1
// CHECK: error[dma-compute]: nisa.dma_compute: with indices one source is 'dst' itself
// CHECK: error[dma-compute]: nisa.dma_compute: with indices one source is 'dst' itself
// CHECK: error[dma-compute]: nisa.dma_compute: what is scattered lives in SBUF
// CHECK: error[dma-compute]: nisa.dma_compute: what gathered elements are added to lives in SBUF
nki.kernel @dma_compute_read_modify_write() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  %other = nki.alloc : memref<16x8xf32, #nki.sbuf>
  nisa.dma_compute dst=%view, srcs=[%view, %data, %data], reduce_op=add
  nisa.dma_compute dst=%view, srcs=[%view], reduce_op=add
  nisa.dma_compute dst=%view, srcs=[%other, %data], reduce_op=add
  nisa.dma_compute dst=%other, srcs=[%view, %data], reduce_op=add
  nisa.dma_compute dst=%view, srcs=[%view, %far], reduce_op=add
  nisa.dma_compute dst=%far, srcs=[%view, %far], reduce_op=add
  nki.return
}

// Other addresses are known at compile time.
// CHECK: error[dma-compute]: nisa.dma_compute: the address of 'srcs' is not known at compile time
// CHECK: error[dma-compute]: nisa.dma_compute: the address of 'dst' is not known at compile time
nki.kernel @dma_compute_moving_address() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %r = nki.register
  %moving = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%r scale=8 bound=49
  nisa.dma_compute dst=%data, srcs=[%moving], reduce_op=add
  nisa.dma_compute dst=%moving, srcs=[%data, %data], reduce_op=add
  nki.return
}

// -------------------- nisa.dma_copy

// Only software makes descriptors of indices.
// CHECK: error[vector-dge]: nisa.dma_copy: 'dge_mode' is hwdge, a vector of indices needs swdge or unknown
// CHECK: error[vector-dge]: nisa.dma_copy: 'dge_mode' is none, a vector of indices needs swdge or unknown
nki.kernel @dma_copy_vector_dge() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_copy dst=%data, src=%view, dge_mode=hwdge
  nisa.dma_copy dst=%view, src=%data, dge_mode=none
  nki.return
}

// -------------------- nisa.dma_transpose

// Only software makes descriptors of indices.
// CHECK: error[vector-dge]: nisa.dma_transpose: 'dge_mode' is none, a vector of indices needs swdge or unknown
nki.kernel @gather_transpose_dge() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view, dge_mode=none
  nki.return
}

// Indices are new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.dma_transpose: a vector of indices needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @gather_transpose_generation() target=trn1 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// One of the middle dimensions is 1.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices dim 1 or 2 of 'src' is 1, they are 2 and 3
nki.kernel @gather_transpose_middle() target=trn3 {
  %dst = nki.alloc : memref<8x2x3x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x2x3x8xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[48, 16], [24, 2], [8, 3], [1, 8]] vector=%rows scale=48 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// The last dimension is at most 128.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 129
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the last dimension of 'src' has at most 128 elements
nki.kernel @gather_transpose_last() target=trn3 {
  %dst = nki.alloc : memref<129x1x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x1x129xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[129, 16], [129, 1], [1, 129]] vector=%rows scale=129 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Elements have 2 bytes.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices 'src' has elements of 2 bytes, it is float32
nki.kernel @gather_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %x = nki.alloc : memref<256x128xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Rows come in blocks of 16.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the rows of 'src' are a multiple of 16, there are 24
nki.kernel @gather_transpose_rows() target=trn3 {
  %dst = nki.alloc : memref<128x24xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 24], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Indices have two dimensions.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the indices have two dimensions, not 3
nki.kernel @gather_transpose_index_rank() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Indices come in 16 to 128 partitions, in blocks of 16.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the indices are in 16 to 128 partitions, a multiple of 16, not 24
nki.kernel @gather_transpose_index_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<24x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Several columns of indices fill all partitions.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices several columns of indices are in 128 partitions, not 64
nki.kernel @gather_transpose_index_columns() target=trn3 {
  %dst = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<64x2xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 32], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// Indices are unsigned.
// CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the indices are uint32, not int32
nki.kernel @gather_transpose_index_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// -------------------- every instruction

// Operands that do not document indirection.
// CHECK: error[indirect-operand]: nisa.tensor_tensor: 'data2' is addressed with .indirect(), which it does not take
// CHECK: error[indirect-operand]: nisa.memset: 'dst' is addressed with .indirect(), which it does not take
// CHECK: error[indirect-operand]: nisa.scalar_tensor_tensor: 'data' is addressed with .indirect(), which it does not take
nki.kernel @indirect_operand() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %wide = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %column = nki.alloc : memref<16x1xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%out, data1=%wide, data2=%view, op=add
  nisa.memset dst=%view, value=0
  nisa.scalar_tensor_tensor dst=%out, data=%view, op0=add, operand0=%column, op1=add, operand1=%wide
  nki.return
}

// A DMA takes a vector of indices, and no others; gathering is for DMAs.
// CHECK: error[indirect-operand]: nisa.dma_copy: 'src' is addressed with .indirect(), which it does not take
// CHECK: error[buffer]: nisa.tensor_copy: 'src' must be in sbuf or psum, it is in private_hbm
// CHECK: error[indirect-operand]: nisa.tensor_copy: 'src' is addressed with a vector of indices, which it does not take
nki.kernel @indirect_operand_of_dma() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %x = nki.alloc : memref<64x4xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %by_rows = nki.view %x offset=0 pattern=[[4, 16], [1, 4]] vector=%rows scale=4 bound=64
  nisa.dma_copy dst=%out, src=%view
  nisa.tensor_copy dst=%out, src=%by_rows
  nki.return
}

// An index starts at a quadrant.
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'src' starts at partition 16
nki.kernel @indirect_partition() target=trn3 {
  %tile = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %all = nki.alloc : memref<64x1xui32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.view %all offset=16 pattern=[[1, 16], [1, 1]]
  %view = nki.view %tile offset=256 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%view
  nki.return
}

// Data and its index start at the same partition, where both are placed.
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'src' starts at partition 32, 'src' at 0
nki.kernel @indirect_partition_of_data() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[32, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%src, src=%view
  nki.return
}

// The index of what is scattered starts where the data does.
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'dst' starts at partition 32, 'src' at 0
nki.kernel @indirect_partition_of_dst() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[0, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%view, src=%src
  nki.return
}

// In a predicated copy the predicate decides, not 'src'.
// CHECK: error[indirect-partition]: nisa.tensor_copy_predicated: the index of 'dst' starts at partition 32, 'predicate' at 0
nki.kernel @indirect_partition_of_predicate() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[0, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %mask = nki.alloc address=[0, 16384] : memref<16x4xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%view, src=%src, predicate=%mask
  nki.return
}

// The Scalar Engine does not scatter to PSUM.
// CHECK: error[indirect-engine]: nisa.tensor_copy: the Scalar Engine scatters 'dst' to psum
// CHECK: error[indirect-engine]: nisa.activation: the Scalar Engine scatters 'dst' to psum
nki.kernel @indirect_engine() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.psum>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%view, src=%out, engine=scalar
  nisa.activation dst=%view, op=copy, data=%out
  nki.return
}

// -------------------- nisa.tensor_copy

// The GpSimd Engine copies no indirect tiles.
// CHECK: error[indirect-engine]: nisa.tensor_copy: 'engine' is gpsimd, and a tile is addressed with .indirect()
// CHECK: error[indirect-engine]: nisa.tensor_copy: 'engine' is gpsimd, and a tile is addressed with .indirect()
nki.kernel @tensor_copy_indirect_engine() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%view, engine=gpsimd
  nisa.tensor_copy dst=%view, src=%out, engine=gpsimd
  nki.return
}

// -------------------- nisa.tensor_scalar

// Addresses are not computed in indirect tiles.
// CHECK: error[indirect-address]: nisa.tensor_scalar: nl.multiply of 32-bit integers with .indirect() is address arithmetic
// CHECK: error[indirect-address]: nisa.tensor_scalar: nl.multiply and nl.add of 32-bit integers with .indirect() is address arithmetic
nki.kernel @tensor_scalar_indirect_address() target=trn3 {
  %tile = nki.alloc : memref<16x8xi32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xui32, #nki.sbuf>
  %float = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %c4 = arith.constant 4 : i32
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_scalar dst=%out, data=%view, op0=multiply, operand0=%c4
  nisa.tensor_scalar dst=%view, data=%out, op0=multiply, operand0=%c4, op1=add, operand1=%c4
  nki.return
}

// -------------------- nisa.nc_matmul

// Indirect operands are 16- or 8-bit floats.
// CHECK: error[matmul-indirect]: nisa.nc_matmul: 'stationary' is float32 and addressed with .indirect()
// CHECK: error[matmul-indirect]: nisa.nc_matmul: 'moving' is float32 and addressed with .indirect()
nki.kernel @nc_matmul_indirect_dtype() target=trn3 {
  %w = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %m = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %s = nki.alloc : memref<32x4xf32, #nki.sbuf>
  %p = nki.alloc : memref<4x8xf32, #nki.psum>
  %q = nki.alloc : memref<4x4xf32, #nki.psum>
  %pb = nki.alloc : memref<4x4xf32, #nki.psum>
  %numbers = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %w offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %moving = nki.view %m offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.nc_matmul dst=%q, stationary=%view, moving=%s
  nisa.nc_matmul dst=%q, stationary=%s, moving=%moving
  nki.return
}

// Indirection takes the whole array, and a static moving tile in transpose mode.
// CHECK: error[matmul-indirect]: nisa.nc_matmul: 'tile_position' does not go with .indirect()
// CHECK: error[matmul-indirect]: nisa.nc_matmul: in transpose mode 'moving' is not addressed with .indirect()
nki.kernel @nc_matmul_indirect_mode() target=trn3 {
  %w = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %m = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %s = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %p = nki.alloc : memref<4x8xf32, #nki.psum>
  %q = nki.alloc : memref<4x4xf32, #nki.psum>
  %pb = nki.alloc : memref<4x4xbf16, #nki.psum>
  %numbers = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %w offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %moving = nki.view %m offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.nc_matmul dst=%q, stationary=%view, moving=%s, tile_position=[32, 0], tile_size=[32, 32]
  nisa.nc_matmul dst=%pb, stationary=%s, moving=%moving, is_transpose=true
  nki.return
}

// -------------------- nisa.nc_matmul_mx

// Data and its scales have the same index; the whole array.
// CHECK: error[matmul-indirect]: nisa.nc_matmul_mx: 'stationary' and 'stationary_scale' are not addressed with the same index
// CHECK: error[matmul-indirect]: nisa.nc_matmul_mx: 'stationary' and 'stationary_scale' are not addressed with the same index
// CHECK: error[matmul-indirect]: nisa.nc_matmul_mx: 'tile_position' does not go with .indirect()
nki.kernel @nc_matmul_mx_indirect() target=trn3 {
  %x = nki.alloc : memref<32x8x!nki.f8E5M2x4, #nki.sbuf>
  %y = nki.alloc : memref<32x4x!nki.f8E5M2x4, #nki.sbuf>
  %sx = nki.alloc : memref<32x8xui8, #nki.sbuf>
  %sy = nki.alloc : memref<32x4xui8, #nki.sbuf>
  %z = nki.alloc : memref<4x4xf32, #nki.psum>
  %numbers = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %others = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %thin = nki.alloc : memref<32x4xui8, #nki.sbuf>
  %vx = nki.view %x offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %vsx = nki.view %sx offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %other = nki.view %sx offset=0 pattern=[[8, 32], [1, 8]] tensor=%others scale=1 bound=8 count=4
  nisa.nc_matmul_mx dst=%z, stationary=%vx, moving=%y, stationary_scale=%other, moving_scale=%sy
  nisa.nc_matmul_mx dst=%z, stationary=%vx, moving=%y, stationary_scale=%thin, moving_scale=%sy
  nisa.nc_matmul_mx dst=%z, stationary=%vx, moving=%y, stationary_scale=%vsx, moving_scale=%sy, tile_position=[32, 0], tile_size=[32, 128]
  nki.return
}

// CHECK: 53 errors
