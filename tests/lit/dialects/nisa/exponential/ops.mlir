// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the Vector Engine's exponential: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @exponential() target=trn3 {
nki.kernel @exponential() target=trn3 {
  %max = arith.constant 8.5 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.exponential dst=%dst, src=%src
  nisa.exponential dst=%dst, src=%src
  // A number, then a tile, as the maximum.
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, max_value=%max
  nisa.exponential dst=%dst, src=%src, max_value=%max
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, max_value=%column
  nisa.exponential dst=%dst, src=%src, max_value=%column
  // Each command.
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, reduce_cmd=reduce
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reduce
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%max
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%max
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, reduce_res=%sum, reduce_cmd=reduce
  nisa.exponential dst=%dst, src=%src, reduce_res=%sum, reduce_cmd=reduce
  // All arguments.
  // CHECK-NEXT: nisa.exponential dst=%dst, src=%src, max_value=%column, reduce_res=%sum, reduce_cmd=load_reduce, reduce_init=%column, name="softmax"
  nisa.exponential dst=%dst, src=%src, max_value=%column, reduce_res=%sum, reduce_cmd=load_reduce, reduce_init=%column, name="softmax"
  // CHECK-NEXT: nki.return
  nki.return
}
