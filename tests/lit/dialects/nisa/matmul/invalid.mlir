// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Tensor Engine instructions: what the rules forbid. A kernel here breaks one rule, for one
// operand or argument after the other; where it cannot break one alone, its comment says so. The
// kernel of the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.nc_matmul

// An input is in PSUM, or in HBM, or the result in SBUF.
// CHECK: error[buffer]: nisa.nc_matmul: 'stationary' must be in sbuf, it is in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%far, moving=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %far, psum 128x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: copy far to a tile in SBUF first, with nisa.tensor_copy, and pass that
// CHECK: error[buffer]: nisa.nc_matmul: 'moving' must be in sbuf, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_matmul: 'dst' must be in psum, it is in sbuf
nki.kernel @nc_matmul_buffers() target=trn3 {
  %dst = nki.alloc : memref<128x128xf32, #nki.psum>
  %tile = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %far = nki.alloc : memref<128x128xbf16, #nki.psum>
  %remote = nki.alloc : memref<128x128xbf16, #nki.private_hbm>
  %near = nki.alloc : memref<128x128xf32, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%far, moving=%tile
  nisa.nc_matmul dst=%dst, stationary=%tile, moving=%remote
  nisa.nc_matmul dst=%near, stationary=%tile, moving=%tile
  nki.return
}

// The inputs have different numbers of partitions, over which the product sums.
// CHECK: error[matmul-shape]: nisa.nc_matmul: the contraction runs over 64 partitions of 'stationary' and 128 of 'moving'
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %stationary, sbuf 64x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = moving: %moving, sbuf 128x512 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: 'stationary' has the contracted dimension in its columns: transpose it first, nisa.nc_transpose of stationary to (128, 64), or load it with nisa.dma_transpose
nki.kernel @nc_matmul_contraction() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// The result is transposed, or has the partitions of the inputs.
// CHECK: error[matmul-shape]: nisa.nc_matmul: 'dst' must be (64, 128), it has 128 partitions and 64 elements per partition
// CHECK: error[matmul-shape]: nisa.nc_matmul: 'dst' must be (64, 128), it has 128 partitions and 128 elements per partition
nki.kernel @nc_matmul_result() target=trn3 {
  %transposed = nki.alloc : memref<128x64xf32, #nki.psum>
  %square = nki.alloc : memref<128x128xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%transposed, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%square, stationary=%stationary, moving=%moving
  nki.return
}

// With double_row an input has two rows per partition as its first free dimension.
// CHECK: error[matmul-shape]: nisa.nc_matmul: with double_row 'stationary' has shape (K, 2, …)
// CHECK: error[matmul-shape]: nisa.nc_matmul: with double_row 'moving' has shape (K, 2, …)
nki.kernel @nc_matmul_double_row_shape() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %flat_stationary = nki.alloc : memref<128x128xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  %wrong_moving = nki.alloc : memref<128x256x2xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%flat_stationary, moving=%moving, perf_mode=double_row
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%wrong_moving, perf_mode=double_row
  nki.return
}

// With double_row the packed rows are no columns: 64, not 128.
// CHECK: error[matmul-shape]: nisa.nc_matmul: 'dst' must be (64, 256), it has 128 partitions and 256 elements per partition
nki.kernel @nc_matmul_double_row_result() target=trn3 {
  %dst = nki.alloc : memref<128x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// The contraction is longer than the rows of the tile.
// CHECK: error[matmul-tile]: nisa.nc_matmul: the contraction has 128 rows, at most 64 fit
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 128]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %stationary, sbuf 128x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = moving: %moving, sbuf 128x512 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: loop over blocks of at most nl.tile_size.pmax rows, nl.tile_size.gemm_stationary_fmax and nl.tile_size.gemm_moving_fmax columns; matmuls over blocks of rows accumulate in one PSUM tile
nki.kernel @nc_matmul_tile_rows() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 128]
  nki.return
}

// 'stationary' has more columns than the tile.
// CHECK: error[matmul-tile]: nisa.nc_matmul: 'stationary' has 128 columns, at most 32 fit
nki.kernel @nc_matmul_tile_columns() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 96], tile_size=[128, 32]
  nki.return
}

// Without a tile size the limit is 128; the result would not fit into PSUM either.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in psum has at most 128 partitions, this one has 256
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %dst = nki.alloc : memref<256x512xf32, #nki.psum>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %dst, psum 256x512 float32, allocated at {{.*}}
// CHECK-NEXT: = help: loop over 2 tiles of 128 rows; or allocate (128, 2, 512), and let a tile have 2 rows in each partition
// CHECK: error[matmul-tile]: nisa.nc_matmul: 'stationary' has 256 columns, at most 128 fit
nki.kernel @nc_matmul_stationary_columns() target=trn3 {
  %dst = nki.alloc : memref<256x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// On NeuronCore-v3 'moving' has at most the columns that a PSUM bank holds.
// CHECK: error[matmul-tile]: nisa.nc_matmul: 'moving' has 1024 columns, at most 512 fit on trn2
nki.kernel @nc_matmul_moving_columns() target=trn2 {
  %dst = nki.alloc : memref<128x1024xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// On NeuronCore-v4 the limit is all of PSUM, and the result does not fit either.
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16388
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %dst = nki.alloc : memref<128x4097xf32, #nki.psum>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %dst, psum 128x4097 float32, allocated at {{.*}}
// CHECK-NEXT: = help: split the free dimension into tiles that fit, and loop over them
// CHECK: error[matmul-tile]: nisa.nc_matmul: 'moving' has 4097 columns, at most 4096 fit on trn3
nki.kernel @nc_matmul_moving_columns_v4() target=trn3 {
  %dst = nki.alloc : memref<128x4097xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x4097xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// The same for a bfloat16 result.
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16386
// CHECK: error[matmul-tile]: nisa.nc_matmul: 'moving' has 8193 columns, at most 8192 fit on trn3
nki.kernel @nc_matmul_moving_columns_bf16() target=trn3 {
  %dst = nki.alloc : memref<128x8193xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x8193xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// 'stationary' is an integer, 'moving' is packed.
// CHECK: error[dtype]: nisa.nc_matmul: 'stationary' must be float8_e4m3, float8_e5m2, float8_e4m3fn, bfloat16, float16, float32 or tfloat32, it is int8
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%integers, moving=%moving
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %integers, sbuf 128x128 int8, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.nc_matmul: 'moving' must be float8_e4m3, float8_e5m2, float8_e4m3fn, bfloat16, float16, float32 or tfloat32, it is float8_e4m3fn_x4
nki.kernel @nc_matmul_input_dtypes() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %integers = nki.alloc : memref<128x128xi8, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %packed = nki.alloc : memref<128x512x!nki.f8E4M3FNx4, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%integers, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%packed
  nki.return
}

// float32 goes with float32 and tfloat32 only.
// CHECK: error[matmul-dtype]: nisa.nc_matmul: float32 and bfloat16 cannot be multiplied
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %stationary, sbuf 128x128 float32, allocated at {{.*}}
// CHECK-NEXT: = moving: %moving, sbuf 128x512 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: copy stationary into a tile of bfloat16 with nisa.tensor_copy, or moving into one of float32
// CHECK: error[matmul-dtype]: nisa.nc_matmul: bfloat16 and float32 cannot be multiplied
nki.kernel @nc_matmul_wide_and_narrow() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %wide = nki.alloc : memref<128x512xf32, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%narrow, moving=%wide
  nki.return
}

// The legacy and the OCP format of FP8 do not go together.
// CHECK: error[matmul-dtype]: nisa.nc_matmul: float8_e4m3 and float8_e4m3fn cannot be multiplied
nki.kernel @nc_matmul_two_fp8() target=trn3 {
  %dst = nki.alloc : memref<128x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xf8E4M3FN, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// double_row packs FP8 elements, not bfloat16.
// CHECK: error[matmul-dtype]: nisa.nc_matmul: double_row takes float8 inputs, they are bfloat16 and float8_e4m3
nki.kernel @nc_matmul_double_row_dtype() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// The result is float16.
// CHECK: error[matmul-dtype]: nisa.nc_matmul: 'dst' must be float32 or bfloat16 on trn3, it is float16
nki.kernel @nc_matmul_dst_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x512xf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// On NeuronCore-v3 a result is float32, not bfloat16.
// CHECK: error[matmul-dtype]: nisa.nc_matmul: 'dst' must be float32 on trn2, it is bfloat16
nki.kernel @nc_matmul_dst_dtype_v3() target=trn2 {
  %dst = nki.alloc : memref<128x128xbf16, #nki.psum>
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nki.return
}

// tile_position and tile_size come without each other, or with other than two numbers.
// CHECK: error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are (0, 0) and ()
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass both, with sizes of 32 (NeuronCore-v3 and newer), 64 or 128 at multiples of them, e.g. tile_position=(0, 64), tile_size=(64, 64); or leave both out
// CHECK: error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are () and (64, 64)
// CHECK: error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are (0, 0, 0) and (64, 64)
// CHECK: error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are (0, 0) and (64,)
// CHECK: error[matmul-position]: nisa.nc_matmul: 'tile_position' and 'tile_size' are given together, two numbers each; they are (0, 0) and (64, 64, 64)
nki.kernel @nc_matmul_position_pairs() target=trn3 {
  %dst = nki.alloc : memref<64x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<64x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_size=[64, 64]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0, 0], tile_size=[64, 64]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[64]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[64, 64, 64]
  nki.return
}

// A tile has 32, 64 or 128 rows and columns; here are 16 rows, then 96 columns.
// CHECK: error[matmul-position]: nisa.nc_matmul: the row size of a tile is 32 to 128, it is 16
// CHECK: error[matmul-position]: nisa.nc_matmul: the column size of a tile is 32 to 128, it is 96
nki.kernel @nc_matmul_tile_size() target=trn3 {
  %dst = nki.alloc : memref<16x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<16x16xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<16x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[16, 128]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[128, 96]
  nki.return
}

// On NeuronCore-v2 the smallest tile is 64.
// CHECK: error[matmul-position]: nisa.nc_matmul: the row size of a tile is 64 to 128, it is 32
nki.kernel @nc_matmul_tile_size_v2() target=trn1 {
  %dst = nki.alloc : memref<32x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x32xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<32x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 0], tile_size=[32, 64]
  nki.return
}

// A start is not a multiple of the size, lies behind the array, or before it.
// CHECK: error[matmul-position]: nisa.nc_matmul: the start row must be a multiple of the row size 64 below 128, it is 32
// CHECK: error[matmul-position]: nisa.nc_matmul: the start column must be a multiple of the column size 32 below 128, it is 128
// CHECK: error[matmul-position]: nisa.nc_matmul: the start row must be a multiple of the row size 32 below 128, it is -32
nki.kernel @nc_matmul_tile_start() target=trn3 {
  %dst = nki.alloc : memref<32x512xf32, #nki.psum>
  %stationary = nki.alloc : memref<32x32xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<32x512xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[32, 0], tile_size=[64, 32]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[0, 128], tile_size=[32, 32]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[-32, 0], tile_size=[32, 32]
  nki.return
}

// double_row does not go with tiles of columns.
// CHECK: error[matmul-position]: nisa.nc_matmul: double_row goes with a column size of 128, it is 64
nki.kernel @nc_matmul_double_row_columns() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<64x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, tile_position=[64, 0], tile_size=[64, 64], perf_mode=double_row
  nki.return
}

// float8_e4m3fn, on either side, is new in NeuronCore-v4.
// CHECK: error[argument-generation]: nisa.nc_matmul: float8_e4m3fn needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%ocp, moving=%other
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = stationary: %ocp, sbuf 128x128 float8_e4m3fn, allocated at {{.*}}
// CHECK-NEXT: = moving: %other, sbuf 128x128 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: leave the argument at its default, or trace for a newer target with platform_target=
// CHECK: error[argument-generation]: nisa.nc_matmul: float8_e4m3fn needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @nc_matmul_fp8fn() target=trn2 {
  %dst = nki.alloc : memref<128x128xf32, #nki.psum>
  %ocp = nki.alloc : memref<128x128xf8E4M3FN, #nki.sbuf>
  %other = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%ocp, moving=%other
  nisa.nc_matmul dst=%dst, stationary=%other, moving=%ocp
  nki.return
}

// double_row is new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.nc_matmul: matmul_perf_mode.double_row needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @nc_matmul_double_row_v2() target=trn1 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<128x2x64xf8E4M3, #nki.sbuf>
  %moving = nki.alloc : memref<128x2x256xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, perf_mode=double_row
  nki.return
}

// Transpose mode passes bits through: nothing is added, and nothing packed.
// CHECK: error[matmul-mode]: nisa.nc_matmul: 'is_transpose' is True, which passes bits through and adds nothing
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%identity, is_transpose=true, accumulate=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: for a matmul leave is_transpose out; for a transpose leave accumulate and perf_mode out
// CHECK: error[matmul-mode]: nisa.nc_matmul: 'is_transpose' is True, which does not go with double_row
nki.kernel @nc_matmul_transpose_mode() target=trn2 {
  %dst = nki.alloc : memref<64x64xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %identity = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %rows = nki.alloc : memref<64x2x64xf8E4M3, #nki.sbuf>
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%identity, is_transpose=false, accumulate=false
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%identity, is_transpose=true, accumulate=true
  nisa.nc_matmul dst=%dst, stationary=%rows, moving=%rows, is_transpose=true, perf_mode=double_row
  nki.return
}

// -------------------- nisa.nc_transpose

// The Tensor Engine is asked for, and the way is not from SBUF to PSUM.
// CHECK: error[buffer]: nisa.nc_transpose: the Tensor Engine transposes from sbuf to psum, 'data' is in sbuf and 'dst' in sbuf
// CHECK: error[buffer]: nisa.nc_transpose: the Tensor Engine transposes from sbuf to psum, 'data' is in psum and 'dst' in psum
nki.kernel @nc_transpose_tensor_engine() target=trn3 {
  %near = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %dst = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<32x32xf32, #nki.psum>
  %far = nki.alloc : memref<32x32xf32, #nki.psum>
  nisa.nc_transpose dst=%dst, data=%near, engine=tensor
  nisa.nc_transpose dst=%far, data=%data, engine=tensor
  nki.return
}

// 'dst' is not of the transposed shape; free dimensions count as one.
// CHECK: error[transpose-shape]: nisa.nc_transpose: the transpose of 128x64 is 64x128, 'dst' is 128x64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_transpose dst=%dst, data=%data
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with the shape (64, 128)
// CHECK: error[transpose-shape]: nisa.nc_transpose: the transpose of 128x64 is 64x128, 'dst' is 128x64
nki.kernel @nc_transpose_shape() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.psum>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %cube = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nisa.nc_transpose dst=%dst, data=%cube
  nki.return
}

// From SBUF to SBUF the Vector Engine transposes, at most 32x32.
// CHECK: error[transpose-shape]: nisa.nc_transpose: the Vector Engine transposes at most 32x32, 'data' is 32x64
nki.kernel @nc_transpose_vector_size() target=trn3 {
  %dst = nki.alloc : memref<64x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// 33 partitions are more than the Vector Engine transposes.
// CHECK: error[transpose-shape]: nisa.nc_transpose: the Vector Engine transposes at most 32x32, 'data' is 33x8
nki.kernel @nc_transpose_vector_partitions() target=trn3 {
  %dst = nki.alloc : memref<8x33xf32, #nki.sbuf>
  %data = nki.alloc : memref<33x8xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data, engine=vector
  nki.return
}

// 256 columns are more than the Tensor Engine transposes, and no tile has 256 partitions.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in psum has at most 128 partitions, this one has 256
// CHECK: error[transpose-shape]: nisa.nc_transpose: the Tensor Engine transposes at most 128x128, 'data' is 128x256
nki.kernel @nc_transpose_tensor_size() target=trn3 {
  %dst = nki.alloc : memref<256x128xf32, #nki.psum>
  %data = nki.alloc : memref<128x256xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// A transpose does not convert.
// CHECK: error[same-dtype]: nisa.nc_transpose: different data types: 'dst' is float32, 'data' is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_transpose dst=%dst, data=%data
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, psum 64x128 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %data, sbuf 128x64 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
nki.kernel @nc_transpose_dtype() target=trn3 {
  %dst = nki.alloc : memref<64x128xf32, #nki.psum>
  %data = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// The GpSimd Engine is asked for.
// CHECK: error[engine]: nisa.nc_transpose: the instruction runs on tensor or vector, not on gpsimd
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_transpose dst=%dst, data=%data, engine=gpsimd
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave engine= out, or pass one that the message lists
nki.kernel @nc_transpose_engine() target=trn3 {
  %dst = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<32x32xf32, #nki.sbuf>
  nisa.nc_transpose dst=%dst, data=%data, engine=gpsimd
  nki.return
}

// Before NeuronCore-v4: a slice from the middle of a bank to the middle of the next, and every
// second element of two banks. In PSUM the author's addresses count.
// CHECK: error[psum-bank]: nisa.nc_matmul: 'dst' reaches from byte 1024 to byte 3071 of a partition, over banks 0 to 1; a bank has 2048 bytes
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%middle, stationary=%stationary, moving=%moving
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %middle, psum 128x512 float32, a view of %banks (psum 128x1024 float32), allocated at {{.*}}
// CHECK-NEXT: = help: let the slice of dst begin and end in one bank, or give each bank a tile of its own
// CHECK: error[psum-bank]: nisa.nc_matmul: 'dst' reaches from byte 0 to byte 4091 of a partition, over banks 0 to 1; a bank has 2048 bytes
// CHECK: error[psum-bank]: nisa.nc_matmul: 'dst' reaches from byte 5120 to byte 7167 of a partition, over banks 2 to 3; a bank has 2048 bytes
nki.kernel @nc_matmul_bank() target=trn2 {
  %stationary = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %banks = nki.alloc : memref<128x1024xf32, #nki.psum>
  %placed = nki.alloc address=[0, 4096] : memref<128x1024xf32, #nki.psum>
  %middle = nki.view %banks offset=256 pattern=[[1024, 128], [1, 512]]
  %sparse = nki.view %banks offset=0 pattern=[[1024, 128], [2, 512]]
  %placed_middle = nki.view %placed offset=256 pattern=[[1024, 128], [1, 512]]
  nisa.nc_matmul dst=%middle, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%sparse, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%placed_middle, stationary=%stationary, moving=%moving
  nki.return
}

// A transpose on the Tensor Engine.
// CHECK: error[psum-bank]: nisa.nc_transpose: 'dst' reaches from byte 1920 to byte 2175 of a partition, over banks 0 to 1; a bank has 2048 bytes
nki.kernel @nc_transpose_bank() target=trn2 {
  %data = nki.alloc : memref<64x128xf32, #nki.sbuf>
  %banks = nki.alloc : memref<128x1024xf32, #nki.psum>
  %dst = nki.view %banks offset=480 pattern=[[1024, 128], [1, 64]]
  nisa.nc_transpose dst=%dst, data=%data
  nki.return
}

// CHECK: 57 errors
