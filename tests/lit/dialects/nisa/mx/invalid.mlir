// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// MX instructions: what the rules forbid. A kernel here breaks one rule, for one operand or
// argument after the other; where it cannot break one alone, its comment says so. The kernel of
// the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.nc_matmul_mx

// The Tensor Engine multiplies MX data from NeuronCore-v4 on.
// CHECK: error[generation]: nisa.nc_matmul_mx: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = help: choose another instruction, or trace for a newer target with platform_target=
nki.kernel @nc_matmul_mx_generation() target=trn2 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// An input is in PSUM or HBM, or the result in SBUF.
// CHECK: error[buffer]: nisa.nc_matmul_mx: 'stationary' must be in sbuf, it is in psum
// CHECK: error[buffer]: nisa.nc_matmul_mx: 'moving' must be in sbuf, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_matmul_mx: 'stationary_scale' must be in sbuf, it is in psum
// CHECK: error[buffer]: nisa.nc_matmul_mx: 'moving_scale' must be in sbuf, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_matmul_mx: 'dst' must be in psum, it is in sbuf
nki.kernel @nc_matmul_mx_buffers() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %far_stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.psum>
  %far_moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.private_hbm>
  %far_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.psum>
  %remote_scale = nki.alloc : memref<128x256xui8, #nki.private_hbm>
  %near = nki.alloc : memref<64x256xf32, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%far_stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%far_moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%far_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%remote_scale
  nisa.nc_matmul_mx dst=%near, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// Data that is not packed, or in the type of another instruction.
// CHECK: error[dtype]: nisa.nc_matmul_mx: 'stationary' must be float8_e5m2_x4, float8_e4m3fn_x4 or float4_e2m1fn_x4, it is float8_e4m3fn
// CHECK: error[dtype]: nisa.nc_matmul_mx: 'moving' must be float8_e5m2_x4, float8_e4m3fn_x4 or float4_e2m1fn_x4, it is bfloat16
nki.kernel @nc_matmul_mx_data() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  %two = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%one, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%two, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// The inputs have different numbers of partitions, over which the product sums.
// CHECK: error[matmul-shape]: nisa.nc_matmul_mx: the contraction runs over 64 partitions of 'stationary' and 128 of 'moving'
nki.kernel @nc_matmul_mx_contraction() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// The result has the values of four elements side by side, or is transposed.
// CHECK: error[matmul-shape]: nisa.nc_matmul_mx: 'dst' must be (64, 256), it has 64 partitions and 1024 elements per partition
// CHECK: error[matmul-shape]: nisa.nc_matmul_mx: 'dst' must be (64, 256), it has 128 partitions and 64 elements per partition
nki.kernel @nc_matmul_mx_result() target=trn3 {
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %wide = nki.alloc : memref<64x1024xf32, #nki.psum>
  %turned = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.nc_matmul_mx dst=%wide, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%turned, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// The contraction is longer than the rows of the tile.
// CHECK: error[matmul-tile]: nisa.nc_matmul_mx: the contraction has 128 rows, at most 64 fit
nki.kernel @nc_matmul_mx_tile_rows() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[64, 0], tile_size=[64, 128]
  nki.return
}

// 'stationary' has more columns than the array; the result has more partitions than PSUM.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in psum has at most 128 partitions, this one has 130
// CHECK: error[matmul-tile]: nisa.nc_matmul_mx: 'stationary' has 130 columns, at most 128 fit
nki.kernel @nc_matmul_mx_stationary_columns() target=trn3 {
  %dst = nki.alloc : memref<130x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x130x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x130xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// 'moving' has more columns than PSUM holds; the result does not fit either.
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16388
// CHECK: error[matmul-tile]: nisa.nc_matmul_mx: 'moving' has 4097 columns, at most 4096 fit on trn3
nki.kernel @nc_matmul_mx_moving_columns() target=trn3 {
  %dst = nki.alloc : memref<64x4097xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x4097x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x4097xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// The same for a bfloat16 result.
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16386
// CHECK: error[matmul-tile]: nisa.nc_matmul_mx: 'moving' has 8193 columns, at most 8192 fit on trn3
nki.kernel @nc_matmul_mx_moving_columns_bf16() target=trn3 {
  %dst = nki.alloc : memref<64x8193xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x8193x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x8193xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// tile_position and tile_size come without each other.
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: 'tile_position' and 'tile_size' are given together, two numbers each; they are (0, 0) and ()
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: 'tile_position' and 'tile_size' are given together, two numbers each; they are () and (128, 128)
nki.kernel @nc_matmul_mx_position_pairs() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[0, 0]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_size=[128, 128]
  nki.return
}

// The array is sliced into rows only.
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: nc_matmul_mx goes with a column size of 128, it is 64
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: nc_matmul_mx goes with a column size of 128, it is 64
nki.kernel @nc_matmul_mx_column_tiles() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[0, 0], tile_size=[128, 64]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[0, 64], tile_size=[128, 64]
  nki.return
}

// A tile starts at a multiple of its size, inside the array.
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: the start row must be a multiple of the row size 32 below 128, it is 16
// CHECK: error[matmul-position]: nisa.nc_matmul_mx: the start row must be a multiple of the row size 64 below 128, it is 128
nki.kernel @nc_matmul_mx_tile_start() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<32x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<4x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<4x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[16, 0], tile_size=[32, 128]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[128, 0], tile_size=[64, 128]
  nki.return
}

// 48 partitions are a quadrant and a half.
// CHECK: error[mx-tile]: nisa.nc_matmul_mx: 'stationary' must have a multiple of 32 partitions up to 128, it has 48
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = stationary: %stationary, sbuf 48x64 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT:   = help: pad the data with zeros: rows to a multiple of 32, stationary columns to an even number, elements to quantize to a multiple of 4
// CHECK: error[mx-tile]: nisa.nc_matmul_mx: 'moving' must have a multiple of 32 partitions up to 128, it has 48
nki.kernel @nc_matmul_mx_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<48x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<48x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// Data that starts inside a quadrant has groups in two.
// CHECK: error[start-partition]: nisa.nc_matmul_mx: 'moving' starts at partition 8; with 32 partitions it can start at 0, 32, 64 or 96
nki.kernel @nc_matmul_mx_data_place() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %part = nki.view %moving offset=2048 pattern=[[256, 32], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%part, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// An odd number of columns is loaded.
// CHECK: error[mx-tile]: nisa.nc_matmul_mx: 'stationary' must have a multiple of 2 columns, it has 63
nki.kernel @nc_matmul_mx_columns() target=trn3 {
  %dst = nki.alloc : memref<63x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x63x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x63xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nki.return
}

// There is a scale for each x4 element of a partition, not for each value.
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'stationary_scale' has 256 scales per partition, 'stationary' has 64 x4 elements
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = stationary_scale: %one, sbuf 128x256 float8_e8m0fnu, allocated at {{.*}}
// CHECK-NEXT:   = stationary: %stationary, sbuf 128x64 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT:   = help: for data of (P, F) x4 elements allocate scales of (P, F), or of (P // 8, F) when P is 32; slice them at partition 0, 4, 8 or 12
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'moving_scale' has 64 scales per partition, 'moving' has 256 x4 elements
nki.kernel @nc_matmul_mx_scale_columns() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<128x256xf8E8M0FNU, #nki.sbuf>
  %two = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// The scales of four quadrants side by side, 16 rows of them, are not where the engine looks.
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'stationary_scale' must have at least 100 partitions for the 128 of 'stationary', it has 16
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'moving_scale' must have at least 100 partitions for the 128 of 'moving', it has 99
nki.kernel @nc_matmul_mx_scale_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.alloc : memref<16x64xf8E8M0FNU, #nki.sbuf>
  %two = nki.alloc : memref<99x256xui8, #nki.sbuf>
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// The scales of several tensors share a tile at partitions 0, 4, 8 and 12 of a quadrant.
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'stationary_scale' starts at partition 2 of a quadrant, it must be 0, 4, 8 or 12
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'moving_scale' starts at partition 16 of a quadrant, it must be 0, 4, 8 or 12
nki.kernel @nc_matmul_mx_scale_place() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %one = nki.view %stationary_scale offset=128 pattern=[[64, 100], [1, 64]]
  %two = nki.view %moving_scale offset=4096 pattern=[[256, 100], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%one, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%two
  nki.return
}

// Data in the third quadrant has its scales in the second.
// CHECK: error[mx-scale]: nisa.nc_matmul_mx: 'moving_scale' starts in quadrant 1, 'moving' in quadrant 2
nki.kernel @nc_matmul_mx_scale_quadrant() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<128x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<128x256xui8, #nki.sbuf>
  %part = nki.view %moving offset=16384 pattern=[[256, 32], [1, 256]]
  %scale = nki.view %moving_scale offset=8192 pattern=[[256, 4], [1, 256]]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%part, stationary_scale=%stationary_scale, moving_scale=%scale
  nki.return
}

// -------------------- nisa.quantize_mx

// 8 partitions, one group of them, are not a quadrant.
// CHECK: error[mx-tile]: nisa.quantize_mx: 'src' must have a multiple of 32 partitions up to 128, it has 8
nki.kernel @quantize_mx_partitions() target=trn3 {
  %dst = nki.alloc : memref<8x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<8x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  nki.return
}

// 254 elements are not groups of 4.
// CHECK: error[mx-tile]: nisa.quantize_mx: 'src' must have a multiple of 4 elements per partition, it has 254
nki.kernel @quantize_mx_elements() target=trn3 {
  %dst = nki.alloc : memref<128x63x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<128x254xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x63xf8E8M0FNU, #nki.sbuf>
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  nki.return
}

// 'dst' has an element for each value, or the groups in its partitions.
// CHECK: error[quantize-shape]: nisa.quantize_mx: 'dst' must be (128, 64), it has 128 partitions and 256 elements per partition
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.quantize_mx dst=%wide, src=%src, dst_scale=%wide_scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT:   = dst: %wide, sbuf 128x256 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT:   = src: %src, sbuf 128x256 bfloat16, allocated at {{.*}}
// CHECK-NEXT:   = help: allocate dst with the partitions of src and a quarter of its elements per partition
// CHECK: error[quantize-shape]: nisa.quantize_mx: 'dst' must be (128, 64), it has 64 partitions and 64 elements per partition
nki.kernel @quantize_mx_shape() target=trn3 {
  %src = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %wide = nki.alloc : memref<128x256x!nki.f8E4M3FNx4, #nki.sbuf>
  %wide_scale = nki.alloc : memref<128x256xf8E8M0FNU, #nki.sbuf>
  %low = nki.alloc : memref<64x64x!nki.f8E4M3FNx4, #nki.sbuf>
  nisa.quantize_mx dst=%wide, src=%src, dst_scale=%wide_scale
  nisa.quantize_mx dst=%low, src=%src, dst_scale=%dst_scale
  nki.return
}

// Too few scales, too few partitions for them, or at a place where no engine looks for them.
// CHECK: error[mx-scale]: nisa.quantize_mx: 'dst_scale' has 16 scales per partition, 'dst' has 64 x4 elements
// CHECK: error[mx-scale]: nisa.quantize_mx: 'dst_scale' must have at least 100 partitions for the 128 of 'dst', it has 16
// CHECK: error[mx-scale]: nisa.quantize_mx: 'dst_scale' starts at partition 1 of a quadrant, it must be 0, 4, 8 or 12
nki.kernel @quantize_mx_scales() target=trn3 {
  %dst = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %few = nki.alloc : memref<128x16xf8E8M0FNU, #nki.sbuf>
  %low = nki.alloc : memref<16x64xf8E8M0FNU, #nki.sbuf>
  %part = nki.view %dst_scale offset=64 pattern=[[64, 127], [1, 64]]
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%few
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%low
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%part
  nki.return
}

// CHECK: 42 errors
