// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of selections: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @tensor_copy_predicated() target=trn3 {
nki.kernel @tensor_copy_predicated() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x8x8xf32, #nki.psum>
  %predicate = nki.alloc : memref<128x64xui8, #nki.sbuf>
  // A tile, then a number.
  // CHECK: nisa.tensor_copy_predicated dst=%dst, src=%src, predicate=%predicate
  nisa.tensor_copy_predicated dst=%dst, src=%src, predicate=%predicate
  // CHECK-NEXT: nisa.tensor_copy_predicated dst=%dst, src=%two, predicate=%predicate
  nisa.tensor_copy_predicated dst=%dst, src=%two, predicate=%predicate
  // All arguments.
  // CHECK-NEXT: nisa.tensor_copy_predicated dst=%dst, src=%src, predicate=%predicate, reverse_pred=true, name="masked"
  nisa.tensor_copy_predicated dst=%dst, src=%src, predicate=%predicate, reverse_pred=true, name="masked"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @affine_select() target=trn3 {
nki.kernel @affine_select() target=trn3 {
  %c-7 = arith.constant -7 : i32
  %r = nki.register
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.affine_select dst=%dst, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%data, on_false_value=0
  nisa.affine_select dst=%dst, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%data, on_false_value=0
  // All arguments; the lowest float32.
  // CHECK-NEXT: nisa.affine_select dst=%dst, pattern=[[8, 8], [-1, 8]], channel_multiplier=-64, on_true_tile=%data, on_false_value=-3.40282347e+38, cmp_op=greater_equal, offset=%c-7, name="causal"
  nisa.affine_select dst=%dst, pattern=[[8, 8], [-1, 8]], channel_multiplier=-64, on_true_tile=%data, on_false_value=-3.40282347e+38, cmp_op=greater_equal, offset=%c-7, name="causal"
  // An offset known at run time only.
  // CHECK-NEXT: nisa.affine_select dst=%dst, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%data, on_false_value=0, offset=%r
  nisa.affine_select dst=%dst, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%data, on_false_value=0, offset=%r
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @range_select() target=trn3 {
nki.kernel @range_select() target=trn3 {
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %high = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %most = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=greater_equal, comp_op1=less, bound0=%low, bound1=%high
  nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=greater_equal, comp_op1=less, bound0=%low, bound1=%high
  // Each command but the default.
  // CHECK-NEXT: nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=equal, comp_op1=greater, bound0=%low, bound1=%high, reduce_cmd=idle
  nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=equal, comp_op1=greater, bound0=%low, bound1=%high, reduce_cmd=idle
  // CHECK-NEXT: nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=equal, comp_op1=greater, bound0=%low, bound1=%high, reduce_cmd=reset
  nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=equal, comp_op1=greater, bound0=%low, bound1=%high, reduce_cmd=reset
  // All arguments, none at its default; the rules refuse some of them.
  // CHECK-NEXT: nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=greater, comp_op1=less_equal, bound0=%low, bound1=%high, reduce_cmd=reduce, reduce_res=%most, reduce_op=minimum, range_start=64, on_false_value=-1.0, name="window"
  nisa.range_select dst=%dst, on_true_tile=%data, comp_op0=greater, comp_op1=less_equal, bound0=%low, bound1=%high, reduce_cmd=reduce, reduce_res=%most, reduce_op=minimum, range_start=64, on_false_value=-1.0, name="window"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @select_reduce() target=trn3 {
nki.kernel @select_reduce() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %predicate = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %most = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments; a number.
  // CHECK: nisa.select_reduce dst=%dst, predicate=%predicate, on_true=%data, on_false=%two
  nisa.select_reduce dst=%dst, predicate=%predicate, on_true=%data, on_false=%two
  // All arguments, none at its default; the rules refuse the operator.
  // CHECK-NEXT: nisa.select_reduce dst=%dst, predicate=%predicate, on_true=%data, on_false=%column, reduce_res=%most, reduce_cmd=reset_reduce, reduce_op=add, reverse_pred=true, name="chosen"
  nisa.select_reduce dst=%dst, predicate=%predicate, on_true=%data, on_false=%column, reduce_res=%most, reduce_cmd=reset_reduce, reduce_op=add, reverse_pred=true, name="chosen"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @sequence_bounds() target=trn3 {
nki.kernel @sequence_bounds() target=trn3 {
  %dst = nki.alloc : memref<1x2x64xi32, #nki.sbuf>
  %ids = nki.alloc : memref<1x64xf32, #nki.sbuf>
  // CHECK: nisa.sequence_bounds dst=%dst, segment_ids=%ids
  nisa.sequence_bounds dst=%dst, segment_ids=%ids
  // CHECK-NEXT: nisa.sequence_bounds dst=%dst, segment_ids=%ids, name="bounds"
  nisa.sequence_bounds dst=%dst, segment_ids=%ids, name="bounds"
  // CHECK-NEXT: nki.return
  nki.return
}
