// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// CHECK: kernel masks, trn3 (NeuronCore-v4)
// CHECK-NEXT: 13 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 1356 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 11 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=y[sbuf 256, 0:128, 1:64, float32], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=mask[sbuf 512, 0:128, 1:64, uint8], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 MEMSET dst=low[sbuf 576, 0:128, 1:1, float32], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 MEMSET dst=high[sbuf 580, 0:128, 1:1, float32], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 MEMSET dst=ids[sbuf 584, 0:1, 1:64, float32], value=0 select.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 TENSOR_COPY_PREDICATED dst=y[sbuf 256, 0:128, 1:64, float32], src=x[sbuf 0, 0:128, 1:64, float32], predicate=mask[sbuf 512, 0:128, 1:64, uint8] signal(1) select.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 wait(gpsimd>=1) RANGE_SELECT dst=y[sbuf 256, 0:128, 1:64, float32], on_true_tile=x[sbuf 0, 0:128, 1:64, float32], bound0=low[sbuf 576, 0:128, 1:1, float32], bound1=high[sbuf 580, 0:128, 1:1, float32], comp_op0=greater_equal, comp_op1=less, reduce_cmd=reset_reduce, reduce_op=maximum select.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 READ_ACCUMULATORS reduce_res=most[sbuf 840, 0:128, 1:1, float32] select.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 SELECT_REDUCE dst=y[sbuf 256, 0:128, 1:64, float32], predicate=mask[sbuf 512, 0:128, 1:64, uint8], on_true=x[sbuf 0, 0:128, 1:64, float32], on_false=low[sbuf 576, 0:128, 1:1, float32], reduce_cmd=reset_reduce, reduce_op=maximum select.mlir:{{[0-9]+}}
// CHECK-NEXT: 11 READ_ACCUMULATORS reduce_res=most[sbuf 840, 0:128, 1:1, float32] select.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 2 instructions
// CHECK-NEXT: 7 wait(vector>=1) AFFINE_SELECT dst=y[sbuf 256, 0:128, 1:64, float32], on_true_tile=x[sbuf 0, 0:128, 1:64, float32], offset=-7, pattern={{\[\[}}-1, 64]], channel_multiplier=1, on_false_value=0 signal(1) select.mlir:{{[0-9]+}}
// CHECK-NEXT: 12 SEQUENCE_BOUNDS dst=bounds[sbuf 844, 0:1, 64:2 1:64, float32], segment_ids=ids[sbuf 584, 0:1, 1:64, float32] select.mlir:{{[0-9]+}}
nki.kernel @masks() target=trn3 {
  %c-7 = arith.constant -7 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %low = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %high = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %most = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %ids = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %bounds = nki.alloc : memref<1x2x64xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%y, value=0
  nisa.memset dst=%mask, value=0
  nisa.memset dst=%low, value=0
  nisa.memset dst=%high, value=0
  nisa.memset dst=%ids, value=0
  nisa.tensor_copy_predicated dst=%y, src=%x, predicate=%mask
  nisa.affine_select dst=%y, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%x, on_false_value=0, offset=%c-7
  nisa.range_select dst=%y, on_true_tile=%x, comp_op0=greater_equal, comp_op1=less, bound0=%low, bound1=%high, reduce_cmd=reset_reduce, reduce_res=%most, reduce_op=maximum
  nisa.select_reduce dst=%y, predicate=%mask, on_true=%x, on_false=%low, reduce_res=%most, reduce_cmd=reset_reduce, reduce_op=maximum
  nisa.sequence_bounds dst=%bounds, segment_ids=%ids
  nki.return
}
