// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Selections: what the rules forbid. A kernel here breaks one rule, for one operand or argument
// after the other; where it cannot break one alone, its comment says so. The kernel of the same
// name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.tensor_copy_predicated

// Each operand in turn is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.tensor_copy_predicated: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%far, src=%other, predicate=%mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.tensor_copy_predicated: 'src' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.tensor_copy_predicated: 'predicate' must be in sbuf or psum, it is in private_hbm
nki.kernel @tensor_copy_predicated_buffers() target=trn3 {
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far_mask = nki.alloc : memref<128x64xui8, #nki.private_hbm>
  nisa.tensor_copy_predicated dst=%far, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%far, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%far_mask
  nki.return
}

// 'src' and 'predicate' are in PSUM.
// CHECK: error[both-in-psum]: nisa.tensor_copy_predicated: 'src' and 'predicate' are both in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%tile, src=%near, predicate=%near_mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %near, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = predicate: %near_mask, psum 128x64 uint8, allocated at {{.*}}
// CHECK-NEXT: = help: copy one of the two to SBUF with nisa.tensor_copy first
nki.kernel @tensor_copy_predicated_both_in_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %near_mask = nki.alloc : memref<128x64xui8, #nki.psum>
  nisa.tensor_copy_predicated dst=%tile, src=%near, predicate=%near_mask
  nki.return
}

// Each operand in turn has fewer partitions.
// CHECK: error[partitions-match]: nisa.tensor_copy_predicated: different numbers of partitions: 'src' has 128, 'predicate' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%few, src=%other, predicate=%mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %other, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = predicate: %mask, sbuf 128x64 uint8, allocated at {{.*}}
// CHECK-NEXT: = dst: %few, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read other[0:64] only
// CHECK: error[partitions-match]: nisa.tensor_copy_predicated: different numbers of partitions: 'src' has 64, 'predicate' has 128, 'dst' has 128
// CHECK: error[partitions-match]: nisa.tensor_copy_predicated: different numbers of partitions: 'src' has 128, 'predicate' has 64, 'dst' has 128
nki.kernel @tensor_copy_predicated_partitions() target=trn3 {
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few_mask = nki.alloc : memref<64x64xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%few, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%few, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%few_mask
  nki.return
}

// Each operand in turn has more elements per partition.
// CHECK: error[free-size-match]: nisa.tensor_copy_predicated: different numbers of elements per partition: 'src' has 64, 'predicate' has 64, 'dst' has 128
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%wide, src=%other, predicate=%mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %other, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = predicate: %mask, sbuf 128x64 uint8, allocated at {{.*}}
// CHECK-NEXT: = dst: %wide, sbuf 128x128 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, wide[:, 0:64], or allocate 'dst' with 64 elements per partition
// CHECK: error[free-size-match]: nisa.tensor_copy_predicated: different numbers of elements per partition: 'src' has 128, 'predicate' has 64, 'dst' has 64
// CHECK: error[free-size-match]: nisa.tensor_copy_predicated: different numbers of elements per partition: 'src' has 64, 'predicate' has 128, 'dst' has 64
nki.kernel @tensor_copy_predicated_free_size() target=trn3 {
  %wide = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %wide_mask = nki.alloc : memref<128x128xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%wide, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%wide, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%wide_mask
  nki.return
}

// 'predicate' is signed, or a float.
// CHECK: error[dtype]: nisa.tensor_copy_predicated: 'predicate' must be uint8, uint16, uint32 or bool_, it is int8
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%signed_mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = predicate: %signed_mask, sbuf 128x64 int8, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.tensor_copy_predicated: 'predicate' must be uint8, uint16, uint32 or bool_, it is int32
// CHECK: error[dtype]: nisa.tensor_copy_predicated: 'predicate' must be uint8, uint16, uint32 or bool_, it is float32
nki.kernel @tensor_copy_predicated_predicate_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %signed_mask = nki.alloc : memref<128x64xi8, #nki.sbuf>
  %int_mask = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %float_mask = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%signed_mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%int_mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%float_mask
  nki.return
}

// 'src' would have to be converted.
// CHECK: error[same-dtype]: nisa.tensor_copy_predicated: different data types: 'src' is float32, 'dst' is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%narrow, src=%other, predicate=%mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %other, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %narrow, sbuf 128x64 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
// CHECK: error[same-dtype]: nisa.tensor_copy_predicated: different data types: 'src' is uint32, 'dst' is int32
nki.kernel @tensor_copy_predicated_dtypes() target=trn3 {
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%narrow, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%ints, src=%words, predicate=%mask
  nki.return
}

// A number is copied into a tile of a packed type.
// CHECK: error[dtype-computable]: nisa.tensor_copy_predicated: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy_predicated dst=%packed, src=%zero, predicate=%mask
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed, sbuf 128x64 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
nki.kernel @tensor_copy_predicated_packed() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%packed, src=%zero, predicate=%mask
  nki.return
}

// -------------------- nisa.affine_select

// The pattern has none, five, or a count of 0, or half of the elements.
// CHECK: error[pattern]: nisa.affine_select: 'pattern' has 0 pairs, 1 to 4 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.affine_select dst=%tile, pattern=[], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: make the product of the counts equal to the elements per partition of dst
// CHECK: error[pattern]: nisa.affine_select: 'pattern' has 5 pairs, 1 to 4 are possible
// CHECK: error[pattern]: nisa.affine_select: 'pattern' has counts [0], each must be positive
// CHECK: error[pattern]: nisa.affine_select: 'pattern' has 32 elements, 'dst' has 64 per partition
nki.kernel @affine_select_pattern() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.affine_select dst=%tile, pattern=[], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 2], [1, 2], [1, 2], [1, 2], [1, 4]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 0]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 8], [0, 4]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nki.return
}

// The operator is not a comparison.
// CHECK: error[comparison]: nisa.affine_select: 'cmp_op' must be nl.equal, nl.not_equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.add
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.affine_select dst=%tile, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a comparison that the message lists, e.g. nl.less
// CHECK: error[comparison]: nisa.affine_select: 'cmp_op' must be nl.equal, nl.not_equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.logical_and
nki.kernel @affine_select_comparison() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.affine_select dst=%tile, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=add
  nisa.affine_select dst=%tile, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=logical_and
  nki.return
}

// -------------------- nisa.range_select

// range_select is new in NeuronCore-v3.
// CHECK: error[generation]: nisa.range_select: the instruction needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another instruction, or trace for a newer target with platform_target=
nki.kernel @range_select_generation() target=trn1 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nki.return
}

// A per-partition operand has fewer rows, or two elements in each.
// CHECK: error[column]: nisa.range_select: 'bound0' must have shape (128, 1), one element for each partition of 'on_true_tile', it is 64x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%few_column, bound1=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = bound0: %few_column, sbuf 64x1 float32, allocated at {{.*}}
// CHECK-NEXT: = on_true_tile: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a number, or a tile with one element per partition, e.g. t[:, 0:1]
// CHECK: error[column]: nisa.range_select: 'bound1' must have shape (128, 1), one element for each partition of 'on_true_tile', it is 128x2
// CHECK: error[column]: nisa.range_select: 'reduce_res' must have shape (128, 1), one element for each partition of 'on_true_tile', it is 64x1
nki.kernel @range_select_columns() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few_column = nki.alloc : memref<64x1xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %pair = nki.alloc : memref<128x2xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%few_column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%pair
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_res=%few_column
  nki.return
}

// The data are integers; a bound is not float32.
// CHECK: error[dtype]: nisa.range_select: 'on_true_tile' must be of a float type, it is int32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%ints, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = on_true_tile: %ints, sbuf 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.range_select: 'on_true_tile' must be of a float type, it is uint8
// CHECK: error[dtype]: nisa.range_select: 'bound0' must be float32, it is int32
// CHECK: error[dtype]: nisa.range_select: 'bound1' must be float32, it is bfloat16
nki.kernel @range_select_dtypes() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %int_column = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %narrow_column = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%ints, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%bytes, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%int_column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%narrow_column
  nki.return
}

// An operator is not a comparison, or not one of the five.
// CHECK: error[comparison]: nisa.range_select: 'comp_op0' must be nl.equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.add
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=add, comp_op1=less, bound0=%column, bound1=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a comparison that the message lists, e.g. nl.less
// CHECK: error[comparison]: nisa.range_select: 'comp_op0' must be nl.equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.not_equal
// CHECK: error[comparison]: nisa.range_select: 'comp_op1' must be nl.equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.maximum
// CHECK: error[comparison]: nisa.range_select: 'comp_op1' must be nl.equal, nl.greater_equal, nl.greater, nl.less_equal or nl.less, it is nl.not_equal
nki.kernel @range_select_comparisons() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=add, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=not_equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=maximum, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=not_equal, bound0=%column, bound1=%column
  nki.return
}

// The reduction is always the maximum.
// CHECK: error[reduce-op]: nisa.range_select: 'reduce_op' must be nl.maximum, it is nl.add
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
// CHECK: error[reduce-op]: nisa.range_select: 'reduce_op' must be nl.maximum, it is nl.minimum
nki.kernel @range_select_reduce_op() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_op=add
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_op=minimum
  nki.return
}

// There is no value that load_reduce could load.
// CHECK: error[reduce-cmd]: nisa.range_select: 'reduce_cmd' must be idle, reset, reduce or reset_reduce, it is load_reduce
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=load_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
nki.kernel @range_select_reduce_cmd() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=load_reduce
  nki.return
}

// Indices that float32 does not tell apart.
// CHECK: error[index-range]: nisa.range_select: indices run from 16777154 to 16777217, float32 has every integer only up to 16777216
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, range_start=16777154
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = on_true_tile: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: move range_start and the bounds closer to 0 by the same number
// CHECK: error[index-range]: nisa.range_select: indices run from -16777217 to -16777154, float32 has every integer only up to 16777216
nki.kernel @range_select_indices() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, range_start=16777154
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, range_start=-16777217
  nki.return
}

// A value other than the lowest float32: minus infinity, 0, or near by.
// CHECK: error[on-false-value]: nisa.range_select: 'on_false_value' must be -3.4028235e+38, it is -inf
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=0xFF800000
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave on_false_value out
// CHECK: error[on-false-value]: nisa.range_select: 'on_false_value' must be -3.4028235e+38, it is 0
// CHECK: error[on-false-value]: nisa.range_select: 'on_false_value' must be -3.4028235e+38, it is -3.3999999521443642e+38
nki.kernel @range_select_on_false_value() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=0xFF800000
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=0
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=-3.4e+38
  nki.return
}

// -------------------- nisa.select_reduce

// 'on_true' is of one of the three types that the instruction does not take.
// CHECK: error[dtype]: nisa.select_reduce: 'on_true' cannot be tfloat32
// CHECK: error[dtype]: nisa.select_reduce: 'on_true' cannot be int32
// CHECK: error[dtype]: nisa.select_reduce: 'on_true' cannot be uint32
nki.kernel @select_reduce_dtypes() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tf32 = nki.alloc : memref<128x64xtf32, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tf32, on_false=%zero
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%ints, on_false=%zero
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%words, on_false=%zero
  nki.return
}

// The reduction is always the maximum.
// CHECK: error[reduce-op]: nisa.select_reduce: 'reduce_op' must be nl.maximum, it is nl.add
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
// CHECK: error[reduce-op]: nisa.select_reduce: 'reduce_op' must be nl.maximum, it is nl.abs_max
nki.kernel @select_reduce_reduce_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_op=add
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_op=abs_max
  nki.return
}

// The instruction neither resets alone nor loads.
// CHECK: error[reduce-cmd]: nisa.select_reduce: 'reduce_cmd' must be idle, reset_reduce or reduce, it is reset
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=reset
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
// CHECK: error[reduce-cmd]: nisa.select_reduce: 'reduce_cmd' must be idle, reset_reduce or reduce, it is load_reduce
nki.kernel @select_reduce_reduce_cmd() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=reset
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=load_reduce
  nki.return
}

// -------------------- nisa.sequence_bounds

// The ids are in two partitions, 'dst' has the size of the ids, or two partitions.
// CHECK: error[sequence-shape]: nisa.sequence_bounds: 'segment_ids' is in 2 partitions
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.sequence_bounds dst=%bounds, segment_ids=%two_rows
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = segment_ids: %two_rows, sbuf 2x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: lay the operands out as segment_ids (1, n), dst (1, 2, n)
// CHECK: error[sequence-shape]: nisa.sequence_bounds: 'dst' must be (1, 2, 64), it has 1 partition and 64 elements per partition
// CHECK: error[sequence-shape]: nisa.sequence_bounds: 'dst' must be (1, 2, 64), it has 2 partitions and 64 elements per partition
nki.kernel @sequence_bounds_shape() target=trn3 {
  %bounds = nki.alloc : memref<1x2x64xf32, #nki.sbuf>
  %two_rows = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %short_bounds = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %two_bounds = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sequence_bounds dst=%bounds, segment_ids=%two_rows
  nisa.sequence_bounds dst=%short_bounds, segment_ids=%row
  nisa.sequence_bounds dst=%two_bounds, segment_ids=%row
  nki.return
}

// CHECK: 52 errors
