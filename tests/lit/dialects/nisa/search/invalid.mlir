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
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read src[0:64] only
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

// -------------------- nisa.nc_match_replace8

// 'dst' has half of the elements of 'data'.
// CHECK: error[free-size-match]: nisa.nc_match_replace8: different numbers of elements per partition: 'data' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_match_replace8 dst=%dst, data=%data, vals=%vals, imm=0.0
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, data[:, 0:32], or allocate 'dst' with 64 elements per partition
nki.kernel @match_replace8_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %vals = nki.alloc : memref<128x8xf32, #nki.sbuf>
  nisa.nc_match_replace8 dst=%dst, data=%data, vals=%vals, imm=0.0
  nki.return
}

// -------------------- nisa.topk

// A core and a half; then the second half of a core and the first of the next.
// CHECK: error[gpsimd-cores]: nisa.topk: 'src' has 24 partitions, not a multiple of 16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 24x4 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tile with a multiple of 16 partitions, and use a part of it
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
// CHECK-NEXT: = help: pass n of at most 16 times the elements per partition of src, and a val_dst of at most n elements per partition
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

// 'dst' has no room for the count.
// CHECK: error[count-slot]: nisa.nonzero_with_count: 'dst' must have 65 elements per partition, one more than 'src', it has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nonzero_with_count dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate dst with one more element per partition than src, for the count
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

// CHECK: 25 errors
