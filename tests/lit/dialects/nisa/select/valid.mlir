// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Selections: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.tensor_copy_predicated

// All operands are in PSUM, one at a time.
nki.kernel @tensor_copy_predicated_buffers() target=trn3 {
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near_mask = nki.alloc : memref<128x64xui8, #nki.psum>
  nisa.tensor_copy_predicated dst=%near, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%near, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%near_mask
  nki.return
}

// One of the two, or 'src' is a number.
nki.kernel @tensor_copy_predicated_both_in_psum() target=trn3 {
  %one = arith.constant 1.0 : f32
  %near2 = nki.alloc : memref<128x64xf32, #nki.psum>
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near_mask = nki.alloc : memref<128x64xui8, #nki.psum>
  nisa.tensor_copy_predicated dst=%near2, src=%near, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%one, predicate=%near_mask
  nki.return
}

// As many.
nki.kernel @tensor_copy_predicated_partitions() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%mask
  nki.return
}

// As many, in other dimensions.
nki.kernel @tensor_copy_predicated_free_size() target=trn3 {
  %wide = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %wide_mask = nki.alloc : memref<128x2x2x16xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%wide, src=%other, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%wide, predicate=%mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%wide_mask
  nki.return
}

// Unsigned integers, and bool_.
nki.kernel @tensor_copy_predicated_predicate_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %half_mask = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %word_mask = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %flag_mask = nki.alloc : memref<128x64xi1, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%half_mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%word_mask
  nisa.tensor_copy_predicated dst=%tile, src=%other, predicate=%flag_mask
  nki.return
}

// It need not be.
nki.kernel @tensor_copy_predicated_dtypes() target=trn3 {
  %one = arith.constant 1.0 : f32
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %words2 = nki.alloc : memref<128x64xui32, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%narrow, src=%one, predicate=%mask
  nisa.tensor_copy_predicated dst=%words, src=%words2, predicate=%mask
  nki.return
}

// A tile of the same packed type is.
nki.kernel @tensor_copy_predicated_packed() target=trn3 {
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %packed2 = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.tensor_copy_predicated dst=%packed, src=%packed2, predicate=%mask
  nki.return
}

// -------------------- nisa.affine_select

// One to four pairs with as many elements as a partition of 'dst'.
nki.kernel @affine_select_pattern() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.affine_select dst=%tile, pattern=[[0, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 2], [1, 2], [1, 4], [1, 4]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nisa.affine_select dst=%tile, pattern=[[1, 8], [0, 8]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=greater_equal
  nki.return
}

// Comparisons, nl.not_equal among them.
nki.kernel @affine_select_comparison() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.affine_select dst=%tile, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0, cmp_op=not_equal
  nisa.affine_select dst=%tile, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=0.0
  nki.return
}

// -------------------- nisa.range_select

// trn2 is NeuronCore-v3.
nki.kernel @range_select_generation() target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nki.return
}

// (P, 1).
nki.kernel @range_select_columns() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column2, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column2
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_res=%column2
  nki.return
}

// Floats, if narrow ones; float32.
nki.kernel @range_select_dtypes() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %tf32 = nki.alloc : memref<128x64xtf32, #nki.sbuf>
  %column2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%narrow, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tf32, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column2, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column2
  nki.return
}

// The five.
nki.kernel @range_select_comparisons() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=equal, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=less, comp_op1=less, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less_equal, bound0=%column, bound1=%column
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=greater, bound0=%column, bound1=%column
  nki.return
}

// The maximum.
nki.kernel @range_select_reduce_op() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_op=maximum
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nki.return
}

// The other commands.
nki.kernel @range_select_reduce_cmd() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=reset
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=reduce
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=reset_reduce
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, reduce_cmd=idle
  nki.return
}

// The first and the last that it does.
nki.kernel @range_select_indices() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, range_start=16777153
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, range_start=-16777216
  nki.return
}

// The lowest float32 itself.
nki.kernel @range_select_on_false_value() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=0xFF7FFFFF
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column, on_false_value=-3.4028235e+38
  nisa.range_select dst=%tile, on_true_tile=%tile, comp_op0=greater_equal, comp_op1=less, bound0=%column, bound1=%column
  nki.return
}

// -------------------- nisa.select_reduce

// Their neighbours.
nki.kernel @select_reduce_dtypes() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %short_mask = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %half_mask = nki.alloc : memref<128x64xui16, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%narrow, on_false=%zero
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%short_mask, on_false=%zero
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%half_mask, on_false=%zero
  nki.return
}

// The maximum.
nki.kernel @select_reduce_reduce_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_op=maximum
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero
  nki.return
}

// The commands that it has.
nki.kernel @select_reduce_reduce_cmd() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=reset_reduce
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=reduce
  nisa.select_reduce dst=%tile, predicate=%mask, on_true=%tile, on_false=%zero, reduce_cmd=idle
  nki.return
}

// -------------------- nisa.sequence_bounds

// One partition, two rows of bounds.
nki.kernel @sequence_bounds_shape() target=trn3 {
  %bounds = nki.alloc : memref<1x2x64xf32, #nki.sbuf>
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %short_bounds = nki.alloc : memref<1x128xf32, #nki.sbuf>
  nisa.sequence_bounds dst=%bounds, segment_ids=%row
  nisa.sequence_bounds dst=%short_bounds, segment_ids=%row
  nisa.sequence_bounds dst=%bounds, segment_ids=%row
  nki.return
}
