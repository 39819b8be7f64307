// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Searches: what the rules forbid. A kernel here breaks one rule, for one operand or argument after
// the other; where it cannot break one alone, its comment says so. The kernel of the same name in
// valid.mlir differs in that one thing and is silent.

// -------------------- nisa.max8

// 'dst', then 'src', is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.max8: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.max8 dst=%far_best, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far_best, private_hbm 128x8 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.max8: 'src' must be in sbuf or psum, it is in private_hbm
nki.kernel @max8_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_best = nki.alloc : memref<128x8xf32, #nki.private_hbm>
  nisa.max8 dst=%far_best, src=%tile
  nisa.max8 dst=%best, src=%far
  nki.return
}

// 'dst' has fewer partitions than 'src'.
// CHECK: error[partitions-match]: nisa.max8: different numbers of partitions: 'src' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.max8 dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x8 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the tiles to the same number of partitions
nki.kernel @max8_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%src
  nki.return
}

// 'src' has four dimensions.
// CHECK: error[max-dims]: nisa.max8: 'src' has 4 dimensions, at most 3 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.max8 dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x4x4x4 float32, allocated at {{.*}}
// CHECK-NEXT: = help: merge free dimensions first, with t.reshape((p, n)) or t.flatten_dims(first, last)
nki.kernel @max8_src_dims() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x4x4x4xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%src
  nki.return
}

// 'dst' has three dimensions.
// CHECK: error[max-dims]: nisa.max8: 'dst' has 3 dimensions, at most 2 are possible
nki.kernel @max8_dst_dims() target=trn3 {
  %dst = nki.alloc : memref<128x2x4xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%src
  nki.return
}

// 'src' has one element too few, then one too many.
// CHECK: error[free-size-range]: nisa.max8: 'src' must have 8 to 16384 elements per partition, it has 7
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.max8 dst=%dst, src=%few
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %few, sbuf 128x7 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the tile to a size in the range, or split the work over several instructions
// CHECK: error[free-size-range]: nisa.max8: 'src' must have 8 to 16384 elements per partition, it has 16385
nki.kernel @max8_elements() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %few = nki.alloc : memref<128x7xf32, #nki.sbuf>
  %many = nki.alloc : memref<128x16385xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%few
  nisa.max8 dst=%dst, src=%many
  nki.return
}

// 'dst' has room for seven, then for nine.
// CHECK: error[free-size-range]: nisa.max8: 'dst' must have 8 elements per partition, it has 7
// CHECK: error[free-size-range]: nisa.max8: 'dst' must have 8 elements per partition, it has 9
nki.kernel @max8_results() target=trn3 {
  %few = nki.alloc : memref<128x7xf32, #nki.sbuf>
  %many = nki.alloc : memref<128x9xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%few, src=%src
  nisa.max8 dst=%many, src=%src
  nki.return
}

// A packed type, which engines do not convert.
// CHECK: error[dtype-computable]: nisa.max8: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.max8 dst=%dst, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, sbuf 128x8 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.max8: engines do not convert 'src', a float8_e5m2_x4
nki.kernel @max8_packed() target=trn3 {
  %dst = nki.alloc : memref<128x8x!nki.f8E5M2x4, #nki.sbuf>
  %src = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%tile
  nisa.max8 dst=%best, src=%src
  nki.return
}

// -------------------- nisa.nc_find_index8

// Each operand in turn is in HBM.
// CHECK: error[buffer]: nisa.nc_find_index8: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_find_index8: 'data' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_find_index8: 'vals' must be in sbuf or psum, it is in private_hbm
nki.kernel @find_index8_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_eight = nki.alloc : memref<128x8xf32, #nki.private_hbm>
  %far_index = nki.alloc : memref<128x8xui32, #nki.private_hbm>
  nisa.nc_find_index8 dst=%far_index, data=%tile, vals=%eight
  nisa.nc_find_index8 dst=%index, data=%far, vals=%eight
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%far_eight
  nki.return
}

// 'vals', then 'dst', has fewer partitions than 'data'.
// CHECK: error[partitions-match]: nisa.nc_find_index8: different numbers of partitions: 'data' has 128, 'vals' has 64, 'dst' has 128
// CHECK: error[partitions-match]: nisa.nc_find_index8: different numbers of partitions: 'data' has 128, 'vals' has 128, 'dst' has 64
nki.kernel @find_index8_partitions() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %short = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %short_index = nki.alloc : memref<64x8xui32, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%short
  nisa.nc_find_index8 dst=%short_index, data=%tile, vals=%eight
  nki.return
}

// 'data', then 'vals', has four dimensions.
// CHECK: error[max-dims]: nisa.nc_find_index8: 'data' has 4 dimensions, at most 3 are possible
// CHECK: error[max-dims]: nisa.nc_find_index8: 'vals' has 4 dimensions, at most 3 are possible
nki.kernel @find_index8_data_dims() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %deep = nki.alloc : memref<128x4x4x4xf32, #nki.sbuf>
  %deep_eight = nki.alloc : memref<128x2x2x2xf32, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%deep, vals=%eight
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%deep_eight
  nki.return
}

// 'dst' has three dimensions.
// CHECK: error[max-dims]: nisa.nc_find_index8: 'dst' has 3 dimensions, at most 2 are possible
nki.kernel @find_index8_dst_dims() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x2x4xui32, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%eight
  nki.return
}

// 'data' has one element too few, then one too many.
// CHECK: error[free-size-range]: nisa.nc_find_index8: 'data' must have 8 to 16384 elements per partition, it has 7
// CHECK: error[free-size-range]: nisa.nc_find_index8: 'data' must have 8 to 16384 elements per partition, it has 16385
nki.kernel @find_index8_elements() target=trn3 {
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %few = nki.alloc : memref<128x7xf32, #nki.sbuf>
  %many = nki.alloc : memref<128x16385xf32, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%few, vals=%eight
  nisa.nc_find_index8 dst=%index, data=%many, vals=%eight
  nki.return
}

// 'vals', then 'dst', has seven elements per partition.
// CHECK: error[free-size-range]: nisa.nc_find_index8: 'vals' must have 8 elements per partition, it has 7
// CHECK: error[free-size-range]: nisa.nc_find_index8: 'dst' must have 8 elements per partition, it has 7
nki.kernel @find_index8_values() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %few = nki.alloc : memref<128x7xf32, #nki.sbuf>
  %few_index = nki.alloc : memref<128x7xui32, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%few
  nisa.nc_find_index8 dst=%few_index, data=%tile, vals=%eight
  nki.return
}

// Indices are not float32, nor signed.
// CHECK: error[dtype]: nisa.nc_find_index8: 'dst' must be uint16 or uint32, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_find_index8 dst=%float, data=%tile, vals=%eight
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %float, sbuf 128x8 float32, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.nc_find_index8: 'dst' must be uint16 or uint32, it is int32
nki.kernel @find_index8_dst_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %float = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %signed = nki.alloc : memref<128x8xi32, #nki.sbuf>
  nisa.nc_find_index8 dst=%float, data=%tile, vals=%eight
  nisa.nc_find_index8 dst=%signed, data=%tile, vals=%eight
  nki.return
}

// A packed type, which engines do not compare.
// CHECK: error[dtype-computable]: nisa.nc_find_index8: engines do not convert 'data', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.nc_find_index8: engines do not convert 'vals', a float8_e5m2_x4
nki.kernel @find_index8_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %index = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %packed_eight = nki.alloc : memref<128x8x!nki.f8E5M2x4, #nki.sbuf>
  nisa.nc_find_index8 dst=%index, data=%packed, vals=%eight
  nisa.nc_find_index8 dst=%index, data=%tile, vals=%packed_eight
  nki.return
}

// -------------------- nisa.nc_match_replace8

// Each operand in turn is in HBM.
// CHECK: error[buffer]: nisa.nc_match_replace8: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_match_replace8: 'data' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_match_replace8: 'vals' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.nc_match_replace8: 'dst_idx' must be in sbuf or psum, it is in private_hbm
nki.kernel @match_replace8_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_eight = nki.alloc : memref<128x8xf32, #nki.private_hbm>
  %far_index = nki.alloc : memref<128x8xui32, #nki.private_hbm>
  nisa.nc_match_replace8 dst=%far, data=%tile, vals=%eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%far, vals=%eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%far_eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%eight, imm=0.0, dst_idx=%far_index
  nki.return
}

// Each operand in turn has fewer partitions than 'data'.
// CHECK: error[partitions-match]: nisa.nc_match_replace8: different numbers of partitions: 'data' has 128, 'vals' has 128, 'dst' has 64
// CHECK: error[partitions-match]: nisa.nc_match_replace8: different numbers of partitions: 'data' has 128, 'vals' has 64, 'dst' has 128
// CHECK: error[partitions-match]: nisa.nc_match_replace8: different numbers of partitions: 'data' has 128, 'vals' has 128, 'dst' has 128, 'dst_idx' has 64
nki.kernel @match_replace8_partitions() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %short = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %short_eight = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %short_index = nki.alloc : memref<64x8xui32, #nki.sbuf>
  nisa.nc_match_replace8 dst=%short, data=%tile, vals=%eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%short_eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%eight, imm=0.0, dst_idx=%short_index
  nki.return
}

// 'dst' has half of the elements of 'data'.
// CHECK: error[free-size-match]: nisa.nc_match_replace8: different numbers of elements per partition: 'data' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_match_replace8 dst=%dst, data=%data, vals=%vals, imm=0.0
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice, reshape or broadcast the tiles to the same number of elements per partition
nki.kernel @match_replace8_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %vals = nki.alloc : memref<128x8xf32, #nki.sbuf>
  nisa.nc_match_replace8 dst=%dst, data=%data, vals=%vals, imm=0.0
  nki.return
}

// 'vals', then 'dst_idx', has seven elements per partition.
// CHECK: error[free-size-range]: nisa.nc_match_replace8: 'vals' must have 8 elements per partition, it has 7
// CHECK: error[free-size-range]: nisa.nc_match_replace8: 'dst_idx' must have 8 elements per partition, it has 7
nki.kernel @match_replace8_values() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %few = nki.alloc : memref<128x7xf32, #nki.sbuf>
  %few_index = nki.alloc : memref<128x7xui32, #nki.sbuf>
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%few, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%eight, imm=0.0, dst_idx=%few_index
  nki.return
}

// Indices are not float32, and do not fit uint8.
// CHECK: error[dtype]: nisa.nc_match_replace8: 'dst_idx' must be uint16, uint32 or int32, it is float32
// CHECK: error[dtype]: nisa.nc_match_replace8: 'dst_idx' must be uint16, uint32 or int32, it is uint8
nki.kernel @match_replace8_index_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %float = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x8xui8, #nki.sbuf>
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%eight, imm=0.0, dst_idx=%float
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%eight, imm=0.0, dst_idx=%narrow
  nki.return
}

// A packed type, which engines do not compare.
// CHECK: error[dtype-computable]: nisa.nc_match_replace8: engines do not convert 'dst', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.nc_match_replace8: engines do not convert 'data', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.nc_match_replace8: engines do not convert 'vals', a float8_e5m2_x4
nki.kernel @match_replace8_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %packed_eight = nki.alloc : memref<128x8x!nki.f8E5M2x4, #nki.sbuf>
  nisa.nc_match_replace8 dst=%packed, data=%tile, vals=%eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%packed, vals=%eight, imm=0.0
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%packed_eight, imm=0.0
  nki.return
}

// -------------------- nisa.topk

// Each operand in turn is in PSUM, which the GpSimd Engine cannot reach.
// CHECK: error[buffer]: nisa.topk: 'val_dst' must be in sbuf, it is in psum
// CHECK: error[buffer]: nisa.topk: 'idx_dst' must be in sbuf, it is in psum
// CHECK: error[buffer]: nisa.topk: 'src' must be in sbuf, it is in psum
nki.kernel @topk_buffers() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %far_val = nki.alloc : memref<32x8xbf16, #nki.psum>
  %far_idx = nki.alloc : memref<32x8xui32, #nki.psum>
  %far_src = nki.alloc : memref<32x4xbf16, #nki.psum>
  nisa.topk val_dst=%far_val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%far_idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%idx, src=%far_src, n=64
  nki.return
}

// Values are not float32.
// CHECK: error[dtype]: nisa.topk: 'val_dst' must be bfloat16, it is float32
// CHECK: error[dtype]: nisa.topk: 'src' must be bfloat16, it is float32
nki.kernel @topk_dtypes() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %wide_val = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %wide_src = nki.alloc : memref<32x4xf32, #nki.sbuf>
  nisa.topk val_dst=%wide_val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%idx, src=%wide_src, n=64
  nki.return
}

// Indices are not int32.
// CHECK: error[dtype]: nisa.topk: 'idx_dst' must be uint32, it is int32
nki.kernel @topk_index_dtype() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xi32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nki.return
}

// A destination has other partitions than 'src'.
// CHECK: error[partitions-match]: nisa.topk: different numbers of partitions: 'src' has 32, 'val_dst' has 16, 'idx_dst' has 32
// CHECK: error[partitions-match]: nisa.topk: different numbers of partitions: 'src' has 32, 'val_dst' has 32, 'idx_dst' has 16
nki.kernel @topk_partitions() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %short_val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %short_idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  nisa.topk val_dst=%short_val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%short_idx, src=%src, n=64
  nki.return
}

// More values than indices.
// CHECK: error[free-size-match]: nisa.topk: different numbers of elements per partition: 'val_dst' has 9, 'idx_dst' has 8
nki.kernel @topk_free_size() target=trn3 {
  %val = nki.alloc : memref<32x9xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nki.return
}

// Each operand in turn has three dimensions.
// CHECK: error[max-dims]: nisa.topk: 'val_dst' has 3 dimensions, at most 2 are possible
// CHECK: error[max-dims]: nisa.topk: 'idx_dst' has 3 dimensions, at most 2 are possible
// CHECK: error[max-dims]: nisa.topk: 'src' has 3 dimensions, at most 2 are possible
nki.kernel @topk_dims() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %deep_val = nki.alloc : memref<32x2x4xbf16, #nki.sbuf>
  %deep_idx = nki.alloc : memref<32x2x4xui32, #nki.sbuf>
  %deep_src = nki.alloc : memref<32x2x2xbf16, #nki.sbuf>
  nisa.topk val_dst=%deep_val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%deep_idx, src=%src, n=64
  nisa.topk val_dst=%val, idx_dst=%idx, src=%deep_src, n=64
  nki.return
}

// A core and a half; then the second half of a core and the first of the next.
// CHECK: error[gpsimd-cores]: nisa.topk: 'src' has 24 partitions, not a multiple of 16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 24x4 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: take a multiple of 16 partitions
// CHECK: error[start-partition]: nisa.topk: 'src' starts at partition 8; with 16 partitions it can start at 0, 32, 64 or 96
nki.kernel @topk_cores() target=trn3 {
  %val = nki.alloc : memref<24x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<24x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<24x4xbf16, #nki.sbuf>
  %one_val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %one_idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %wide = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %part = nki.view %wide offset=32 pattern=[[4, 16], [1, 4]]
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%one_val, idx_dst=%one_idx, src=%part, n=64
  nki.return
}

// 'n' is below its range, then above it.
// CHECK: error[topk-size]: nisa.topk: 'n' must be 8 to 65535, it is 7
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=7
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: change n or the width of val_dst, or split the elements and merge the results
// CHECK: error[topk-size]: nisa.topk: 'n' must be 8 to 65535, it is 65536
nki.kernel @topk_n() target=trn3 {
  %val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4096xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=7
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=65536
  nki.return
}

// 'src' has room for one element less than 'n'.
// CHECK: error[topk-size]: nisa.topk: 16 partitions of 'src' have 64 elements, 'n' is 65
nki.kernel @topk_source() target=trn3 {
  %val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=65
  nki.return
}

// More results than elements; then more than the instruction returns.
// CHECK: error[topk-size]: nisa.topk: 'val_dst' has 65 elements per partition, at most 64 of 64 can be returned
// CHECK: error[topk-size]: nisa.topk: 'val_dst' has 32768 elements per partition, at most 32767 of 64000 can be returned
nki.kernel @topk_k() target=trn3 {
  %val = nki.alloc : memref<16x65xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x65xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4xbf16, #nki.sbuf>
  %many_val = nki.alloc : memref<16x32768xbf16, #nki.sbuf>
  %many_idx = nki.alloc : memref<16x32768xui32, #nki.sbuf>
  %wide = nki.alloc : memref<16x4000xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%many_val, idx_dst=%many_idx, src=%wide, n=64000
  nki.return
}

// The order of the results is asked for.
// CHECK: error[topk-order]: nisa.topk: 'sorted' is True
nki.kernel @topk_order() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64, sorted=true
  nki.return
}

// -------------------- nisa.nonzero_with_count

// nonzero_with_count is new in NeuronCore-v3.
// CHECK: error[generation]: nisa.nonzero_with_count: the instruction needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nonzero_with_count dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another instruction, or trace for a newer target with platform_target=
nki.kernel @nonzero_generation() target=trn1 {
  %dst = nki.alloc : memref<128x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// 'dst', then 'src', is in PSUM, which the GpSimd Engine cannot reach.
// CHECK: error[buffer]: nisa.nonzero_with_count: 'dst' must be in sbuf, it is in psum
// CHECK: error[buffer]: nisa.nonzero_with_count: 'src' must be in sbuf, it is in psum
nki.kernel @nonzero_buffers() target=trn3 {
  %dst = nki.alloc : memref<128x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far_dst = nki.alloc : memref<128x65xi32, #nki.psum>
  %far_src = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.nonzero_with_count dst=%far_dst, src=%src
  nisa.nonzero_with_count dst=%dst, src=%far_src
  nki.return
}

// 'src' is neither bfloat16 nor uint32.
// CHECK: error[dtype]: nisa.nonzero_with_count: 'src' must be float32 or int32, it is bfloat16
// CHECK: error[dtype]: nisa.nonzero_with_count: 'src' must be float32 or int32, it is uint32
nki.kernel @nonzero_src_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x65xi32, #nki.sbuf>
  %half = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %unsigned = nki.alloc : memref<128x64xui32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%half
  nisa.nonzero_with_count dst=%dst, src=%unsigned
  nki.return
}

// Indices are not uint32.
// CHECK: error[dtype]: nisa.nonzero_with_count: 'dst' must be int32, it is uint32
nki.kernel @nonzero_dst_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x65xui32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// 'dst' has more partitions than 'src'.
// CHECK: error[partitions-match]: nisa.nonzero_with_count: different numbers of partitions: 'src' has 1, 'dst' has 128
nki.kernel @nonzero_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %one_dst = nki.alloc : memref<1x65xi32, #nki.sbuf>
  %one_src = nki.alloc : memref<1x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// 'dst' has no room for the count.
// CHECK: error[count-slot]: nisa.nonzero_with_count: 'dst' must have 65 elements per partition, one more than 'src', it has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nonzero_with_count dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate dst with one element per partition more than src
nki.kernel @nonzero_count() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// 'src', then 'dst', begins in the middle of a core.
// CHECK: error[start-partition]: nisa.nonzero_with_count: 'src' starts at partition 8; with 16 partitions it can start at 0, 32, 64 or 96
// CHECK: error[start-partition]: nisa.nonzero_with_count: 'dst' starts at partition 8; with 16 partitions it can start at 0, 32, 64 or 96
nki.kernel @nonzero_cores() target=trn3 {
  %dst = nki.alloc : memref<16x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %wide_dst = nki.alloc : memref<32x65xi32, #nki.sbuf>
  %wide_src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %part_src = nki.view %wide_src offset=512 pattern=[[64, 16], [1, 64]]
  %part_dst = nki.view %wide_dst offset=520 pattern=[[65, 16], [1, 65]]
  nisa.nonzero_with_count dst=%dst, src=%part_src
  nisa.nonzero_with_count dst=%part_dst, src=%src
  nki.return
}

// CHECK: 72 errors
