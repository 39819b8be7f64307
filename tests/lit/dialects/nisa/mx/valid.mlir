// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// MX instructions: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.nc_matmul_mx

// trn3 is NeuronCore-v4.
nki.kernel @nc_matmul_mx_generation() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// From SBUF to PSUM.
nki.kernel @nc_matmul_mx_buffers() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %far_stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %far_moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %far_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %remote_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %near = nki.alloc : memref<64x256xf32, #nki.psum>
  nisa.nc_matmul_mx dst=%dst, stationary=%far_stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%far_moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%far_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%remote_scale
  nisa.nc_matmul_mx dst=%near, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// The three x4 types, in any combination.
nki.kernel @nc_matmul_mx_data() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<128x64x!nki.f4E2M1FNx4, #nki.sbuf>
  %two = nki.alloc : memref<128x256x!nki.f8E4M3FNx4, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%one, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%two, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// 64 in both.
nki.kernel @nc_matmul_mx_contraction() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<64x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// It has a row and a column per x4 element.
nki.kernel @nc_matmul_mx_result() target=trn3 {
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %wide = nki.alloc : memref<64x256xf32, #nki.psum>
  %turned = nki.alloc : memref<64x256xf32, #nki.psum>
  nisa.nc_matmul_mx dst=%wide, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%turned, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// 64 rows fit.
nki.kernel @nc_matmul_mx_tile_rows() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<64x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[64, 0], tile_size=[64, 128]
  nki.return
}

// 128 columns fit.
nki.kernel @nc_matmul_mx_stationary_columns() target=trn3 {
  %dst = nki.alloc : memref<128x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x128xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// 4096 float32 elements fill it.
nki.kernel @nc_matmul_mx_moving_columns() target=trn3 {
  %dst = nki.alloc : memref<64x4096xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x4096x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x4096xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// 8192 elements fill it.
nki.kernel @nc_matmul_mx_moving_columns_bf16() target=trn3 {
  %dst = nki.alloc : memref<64x8192xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x8192x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x8192xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// Together.
nki.kernel @nc_matmul_mx_position_pairs() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[0, 0], tile_size=[128, 128]
  nki.return
}

// All its columns are used.
nki.kernel @nc_matmul_mx_column_tiles() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[0, 0], tile_size=[128, 128]
  nki.return
}

// At 96 and at 64.
nki.kernel @nc_matmul_mx_tile_start() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<32x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<4x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<4x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[96, 0], tile_size=[32, 128]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[64, 0], tile_size=[64, 128]
  nki.return
}

// 64 are two.
nki.kernel @nc_matmul_mx_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<64x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// At the start of the third.
nki.kernel @nc_matmul_mx_data_place() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %part = nki.view %moving offset=16384 pattern=[[256, 32], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%part, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// An odd number may stream through.
nki.kernel @nc_matmul_mx_columns() target=trn3 {
  %dst = nki.alloc : memref<64x255xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x255x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x255xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// As many as x4 elements.
nki.kernel @nc_matmul_mx_scale_columns() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %two = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// The last 4 of them are in partitions 96 to 99.
nki.kernel @nc_matmul_mx_scale_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<100x64xf8E8M0FNU, #nki.sbuf>
  %two = nki.alloc : memref<100x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// At 4 and at 12.
nki.kernel @nc_matmul_mx_scale_place() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.view %stationary_scale offset=256 pattern=[[64, 124], [1, 64]]
  %two = nki.view %moving_scale offset=3072 pattern=[[256, 116], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// In the third, or in a tile of their own, which may be anywhere.
nki.kernel @nc_matmul_mx_scale_quadrant() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %own = nki.alloc : memref<4x256xui8, #nki.sbuf>
  %part = nki.view %moving offset=16384 pattern=[[256, 32], [1, 256]]
  %scale = nki.view %moving_scale offset=16384 pattern=[[256, 4], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%part, stationary_scale=%stationary_scale, moving_scale=%scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%part, stationary_scale=%stationary_scale, moving_scale=%own
  nki.return
}

// -------------------- nisa.quantize_mx

// 32 are.
nki.kernel @quantize_mx_partitions() target=trn3 {
  %dst = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<32x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<4x64xf8E8M0FNU, #nki.sbuf>
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  nki.return
}

// 252 are.
nki.kernel @quantize_mx_elements() target=trn3 {
  %dst = nki.alloc : memref<128x63x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<128x252xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x63xf8E8M0FNU, #nki.sbuf>
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  nki.return
}

// A quarter of the elements, and all partitions.
nki.kernel @quantize_mx_shape() target=trn3 {
  %src = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %wide = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %wide_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %low = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  nisa.quantize_mx dst=%wide, src=%src, dst_scale=%wide_scale
  nisa.quantize_mx dst=%low, src=%src, dst_scale=%dst_scale
  nki.return
}

// Each in its quadrant, or 4 partitions for 32.
nki.kernel @quantize_mx_scales() target=trn3 {
  %dst = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %few = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %low = nki.alloc : memref<100x64xf8E8M0FNU, #nki.sbuf>
  %part = nki.view %dst_scale offset=512 pattern=[[64, 120], [1, 64]]
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%few
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%low
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%part
  nki.return
}
