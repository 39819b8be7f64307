// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Tensor Engine instructions: the nearest legal neighbours of the kernels in invalid.mlir, by
// the same names.

// CHECK: no findings

// -------------------- nisa.nc_matmul

// From SBUF to PSUM.
nki.kernel @nc_matmul_buffers() target=trn3 {
  %dst = nki.alloc : memref<128x128xf32, #nki.psum>
  %tile = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %far = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %remote = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %near = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.nc_matmul dst=%dst, stationary=%far, moving=%tile
  nisa.nc_matmul dst=%dst, stationary=%tile, moving=%remote
  nisa.nc_matmul dst=%near, stationary=%tile, moving=%tile
  nki.return
}

// The same number, not necessarily 128.
nki.kernel @nc_matmul_contraction() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<64x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// It has the columns of 'stationary' as partitions and those of 'moving' as columns.
nki.kernel @nc_matmul_result() target=trn3 {
  %transposed = nki.alloc : memref<64x128xf32, #nki.psum>
  %square = nki.alloc : memref<64x128xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%transposed, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%square, stationary=%stationary, moving=%moving
  nki.return
}

// (K, 2, M) and (K, 2, N).
nki.kernel @nc_matmul_double_row_shape() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %flat_stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  %wrong_moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%flat_stationary, moving=%moving, perf_mode=double_row
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%wrong_moving, perf_mode=double_row
  nki.return
}

// 64 partitions.
nki.kernel @nc_matmul_double_row_result() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// As long.
nki.kernel @nc_matmul_tile_rows() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<64x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 128]
  nki.return
}

// As many.
nki.kernel @nc_matmul_tile_columns() target=trn3 {
  %dst = nki.alloc : memref<32x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 96], tile_size=[128, 32]
  nki.return
}

// 128 columns.
nki.kernel @nc_matmul_stationary_columns() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// 512 columns of float32.
nki.kernel @nc_matmul_moving_columns() target=trn2 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// 4096 columns of float32.
nki.kernel @nc_matmul_moving_columns_v4() target=trn3 {
  %dst = nki.alloc : memref<128x4096xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x4096xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// 8192 columns of bfloat16.
nki.kernel @nc_matmul_moving_columns_bf16() target=trn3 {
  %dst = nki.alloc : memref<128x8192xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x8192xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// FP8.
nki.kernel @nc_matmul_input_dtypes() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %integers = nki.alloc : memref<128x128xf8E5M2, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %packed = nki.alloc : memref<128x512xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%integers, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%packed
  nki.return
}

// float32 with tfloat32; narrow types may differ.
nki.kernel @nc_matmul_wide_and_narrow() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xtf32, #nki.sbuf>
  %wide = nki.alloc : memref<128x512xf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%narrow, moving=%wide
  nki.return
}

// Each goes with itself, and with float8_e5m2.
nki.kernel @nc_matmul_two_fp8() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xf8E5M2, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// FP8, also of two formats.
nki.kernel @nc_matmul_double_row_dtype() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E5M2, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// bfloat16, on NeuronCore-v4.
nki.kernel @nc_matmul_dst_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x512xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// float32, or in transpose mode the type of 'stationary'.
nki.kernel @nc_matmul_dst_dtype_v3() target=trn2 {
  %dst = nki.alloc : memref<128x128xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, is_transpose=true
  nki.return
}

// Two numbers each, or nothing.
nki.kernel @nc_matmul_position_pairs() target=trn3 {
  %dst = nki.alloc : memref<64x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<64x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[64, 64]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[64, 64]
  nki.return
}

// 32 rows, 64 columns.
nki.kernel @nc_matmul_tile_size() target=trn3 {
  %dst = nki.alloc : memref<16x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<16x16xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<16x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[32, 128]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[128, 64]
  nki.return
}

// 64.
nki.kernel @nc_matmul_tile_size_v2() target=trn1 {
  %dst = nki.alloc : memref<32x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x32xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<32x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[64, 64]
  nki.return
}

// Multiples inside the array.
nki.kernel @nc_matmul_tile_start() target=trn3 {
  %dst = nki.alloc : memref<32x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x32xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<32x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 32]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 96], tile_size=[32, 32]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[32, 32]
  nki.return
}

// With tiles of rows it does.
nki.kernel @nc_matmul_double_row_columns() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<64x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 128], perf_mode=double_row
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @nc_matmul_fp8fn() target=trn3 {
  %dst = nki.alloc : memref<128x128xf32, #nki.psum>
  %ocp = nki.alloc : memref<128x128xf8E4M3FN, #nki.sbuf>
  %other = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%ocp, moving=%other
  nisa.nc_matmul dst=%dst, stationary=%other, moving=%ocp
  nki.return
}

// trn2 is NeuronCore-v3.
nki.kernel @nc_matmul_double_row_v2() target=trn2 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// On NeuronCore-v2 it is a hint, and the instruction a matmul.
nki.kernel @nc_matmul_transpose_mode() target=trn1 {
  %dst = nki.alloc : memref<64x64xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %identity = nki.alloc : memref<64x64xf32, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%identity, is_transpose=true, accumulate=false
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%identity, is_transpose=true, accumulate=true
  nki.return
}

// -------------------- nisa.nc_transpose

// It is.
nki.kernel @nc_transpose_tensor_engine() target=trn3 {
  %near = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %dst = nki.alloc : memref<32x32xf32, #nki.psum>
  %data = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %far = nki.alloc : memref<32x32xf32, #nki.psum>
  nisa.nc_transpose dst=%dst, data=%near, engine=tensor
  nisa.nc_transpose dst=%far, data=%data, engine=tensor
  nki.return
}

// It is.
nki.kernel @nc_transpose_shape() target=trn3 {
  %dst = nki.alloc : memref<64x128xf32, #nki.psum>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %cube = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nisa.nc_transpose dst=%dst, data=%cube
  nki.return
}

// To PSUM the Tensor Engine does, at most 128x128.
nki.kernel @nc_transpose_vector_size() target=trn3 {
  %dst = nki.alloc : memref<64x32xf32, #nki.psum>
  %data = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// 32 are not.
nki.kernel @nc_transpose_vector_partitions() target=trn3 {
  %dst = nki.alloc : memref<8x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<32x8xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data, engine=vector
  nki.return
}

// 128.
nki.kernel @nc_transpose_tensor_size() target=trn3 {
  %dst = nki.alloc : memref<128x128xf32, #nki.psum>
  %data = nki.alloc : memref<128x128xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// The same type on both sides, whichever it is.
nki.kernel @nc_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<64x128xi8, #nki.psum>
  %data = nki.alloc : memref<128x64xi8, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// The Vector Engine.
nki.kernel @nc_transpose_engine() target=trn3 {
  %dst = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<32x32xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data, engine=vector
  nki.return
}

// One bank or the other; a slice of a tile that fits into a bank.
nki.kernel @nc_matmul_bank() target=trn2 {
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %few = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %banks = nki.alloc : memref<128x1024xf32, #nki.psum>
  %bank = nki.alloc : memref<128x512xf32, #nki.psum>
  %placed = nki.alloc address=[0, 4096] : memref<128x1024xf32, #nki.psum>
  %first = nki.view %banks offset=0 pattern=[[1024, 128], [1, 512]]
  %second = nki.view %banks offset=512 pattern=[[1024, 128], [1, 512]]
  %slice = nki.view %bank offset=384 pattern=[[512, 128], [1, 128]]
  %placed_second = nki.view %placed offset=512 pattern=[[1024, 128], [1, 512]]
  nisa.nc_matmul dst=%first, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%second, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%slice, stationary=%stationary, moving=%few
  nisa.nc_matmul dst=%placed_second, stationary=%stationary, moving=%moving
  nki.return
}

// From NeuronCore-v4 on anywhere.
nki.kernel @nc_transpose_bank() target=trn3 {
  %data = nki.alloc : memref<64x128xf32, #nki.sbuf>
  %banks = nki.alloc : memref<128x1024xf32, #nki.psum>
  %dst = nki.view %banks offset=480 pattern=[[1024, 128], [1, 64]]
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}
