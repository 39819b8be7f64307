// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// The nearest legal neighbours of the kernels in invalid.mlir, which nothing is found in.

// CHECK: no findings

// -------------------- nisa.dma_compute

nki.kernel @dma_compute_size() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %c = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<64x128xf32, #nki.sbuf>
  nisa.dma_compute dst=%dst, srcs=[%a, %d], reduce_op=add
  nki.return
}

nki.kernel @dma_compute_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %x = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add
  nisa.dma_compute dst=%b, srcs=[%a], reduce_op=add
  nki.return
}

nki.kernel @dma_compute_arguments() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add
  nisa.dma_compute dst=%dst, srcs=[%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a], reduce_op=add
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add, scales=[1.0, 1.0]
  nisa.dma_compute dst=%dst, srcs=[%a, %b], reduce_op=add, unique_indices=false
  nki.return
}

nki.kernel @dma_compute_unique() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_compute dst=%view, srcs=[%view, %data], reduce_op=add
  nki.return
}

nki.kernel @dma_compute_read_modify_write() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  %other = nki.alloc : memref<16x8xf32, #nki.sbuf>
  nisa.dma_compute dst=%view, srcs=[%view, %data], reduce_op=add
  nisa.dma_compute dst=%view, srcs=[%data, %view], reduce_op=add, oob_mode=skip
  nisa.dma_compute dst=%data, srcs=[%view, %data], reduce_op=add
  nisa.dma_compute dst=%data, srcs=[%data, %view], reduce_op=add, oob_mode=skip
  nki.return
}

nki.kernel @dma_compute_moving_address() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %r = nki.register
  %still = nki.view %x offset=128 pattern=[[8, 16], [1, 8]]
  nisa.dma_compute dst=%data, srcs=[%still], reduce_op=add
  nisa.dma_compute dst=%still, srcs=[%data, %data], reduce_op=add
  nki.return
}

// -------------------- nisa.dma_copy

nki.kernel @dma_copy_vector_dge() target=trn3 {
  %x = nki.alloc : memref<64x8xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<16x8xf32, #nki.private_hbm>
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  nisa.dma_copy dst=%data, src=%view, dge_mode=swdge
  nisa.dma_copy dst=%view, src=%data
  nki.return
}

// -------------------- nisa.dma_transpose

nki.kernel @gather_transpose_dge() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view, dge_mode=swdge, oob_mode=skip
  nki.return
}

nki.kernel @gather_transpose_generation() target=trn2 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_middle() target=trn3 {
  %dst = nki.alloc : memref<8x2x1x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x2x1x8xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[16, 16], [8, 2], [8, 1], [1, 8]] vector=%rows scale=16 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_last() target=trn3 {
  %dst = nki.alloc : memref<128x1x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x1x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [128, 1], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_rows() target=trn3 {
  %dst = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 32], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_index_rank() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_index_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_index_columns() target=trn3 {
  %dst = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<128x2xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 256], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

nki.kernel @gather_transpose_index_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %x = nki.alloc : memref<256x128xbf16, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[128, 16], [1, 128]] vector=%rows scale=128 bound=256
  nisa.dma_transpose dst=%dst, src=%view
  nki.return
}

// -------------------- every instruction

nki.kernel @indirect_operand() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %wide = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %column = nki.alloc : memref<16x1xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%out, data1=%view, data2=%wide, op=add
  nisa.memset dst=%out, value=0
  nisa.scalar_tensor_tensor dst=%out, data=%wide, op0=add, operand0=%column, op1=add, operand1=%wide
  nki.return
}

nki.kernel @indirect_operand_of_dma() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %x = nki.alloc : memref<64x4xf32, #nki.private_hbm>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %by_rows = nki.view %x offset=0 pattern=[[4, 16], [1, 4]] vector=%rows scale=4 bound=64
  nisa.dma_copy dst=%out, src=%by_rows
  nisa.tensor_copy dst=%out, src=%view
  nki.return
}

nki.kernel @indirect_partition() target=trn3 {
  %tile = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %all = nki.alloc : memref<64x1xui32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.view %all offset=32 pattern=[[1, 16], [1, 1]]
  %view = nki.view %tile offset=256 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%view
  nki.return
}

nki.kernel @indirect_partition_of_data() target=trn3 {
  %tile = nki.alloc address=[32, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[0, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%src, src=%view
  nki.return
}

nki.kernel @indirect_partition_of_dst() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[32, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%view, src=%src
  nki.return
}

nki.kernel @indirect_partition_of_predicate() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc address=[32, 4096] : memref<16x1xui32, #nki.sbuf>
  %src = nki.alloc address=[0, 8192] : memref<16x4xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %mask = nki.alloc address=[32, 16384] : memref<16x4xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%view, src=%src, predicate=%mask
  nki.return
}

nki.kernel @indirect_engine() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.psum>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%view, src=%out, engine=vector
  nisa.activation dst=%out, op=copy, data=%view
  nki.return
}

// -------------------- nisa.tensor_copy

nki.kernel @tensor_copy_indirect_engine() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%view, engine=scalar
  nisa.tensor_copy dst=%view, src=%out, engine=vector
  nki.return
}

// -------------------- nisa.tensor_scalar

nki.kernel @tensor_scalar_indirect_address() target=trn3 {
  %tile = nki.alloc : memref<16x8xi32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xui32, #nki.sbuf>
  %float = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %c4 = arith.constant 4 : i32
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_scalar dst=%float, data=%view, op0=multiply, operand0=%c4
  nisa.tensor_scalar dst=%view, data=%out, op0=maximum, operand0=%c4, op1=add, operand1=%c4
  nki.return
}

// -------------------- nisa.nc_matmul

nki.kernel @nc_matmul_indirect_dtype() target=trn3 {
  %w = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %m = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %s = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %p = nki.alloc : memref<4x8xf32, #nki.psum>
  %q = nki.alloc : memref<4x4xf32, #nki.psum>
  %pb = nki.alloc : memref<4x4xbf16, #nki.psum>
  %numbers = nki.alloc : memref<32x1xui32, #nki.sbuf>
  %view = nki.view %w offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %moving = nki.view %m offset=0 pattern=[[8, 32], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.nc_matmul dst=%q, stationary=%view, moving=%s
  nisa.nc_matmul dst=%q, stationary=%s, moving=%moving
  nki.return
}

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
  nisa.nc_matmul dst=%q, stationary=%view, moving=%s, tile_position=[0, 0], tile_size=[32, 32]
  nisa.nc_matmul dst=%pb, stationary=%view, moving=%s, is_transpose=true
  nki.return
}

// -------------------- nisa.nc_matmul_mx

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
  nisa.nc_matmul_mx dst=%z, stationary=%vx, moving=%y, stationary_scale=%vsx, moving_scale=%sy
  nisa.nc_matmul_mx dst=%z, stationary=%y, moving=%y, stationary_scale=%thin, moving_scale=%sy
  nisa.nc_matmul_mx dst=%z, stationary=%vx, moving=%y, stationary_scale=%vsx, moving_scale=%sy, tile_position=[0, 0], tile_size=[32, 128]
  nki.return
}
