// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the generated patterns: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @iota() target=trn3 {
nki.kernel @iota() target=trn3 {
  %c-7 = arith.constant -7 : i32
  %r = nki.register
  %dst = nki.alloc : memref<128x32xi32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.iota dst=%dst, pattern=[[1, 32]]
  nisa.iota dst=%dst, pattern=[[1, 32]]
  // All arguments; steps may be negative.
  // CHECK-NEXT: nisa.iota dst=%dst, pattern=[[8, 4], [-4, 2], [2, 2], [0, 2]], offset=%c-7, channel_multiplier=32, name="index"
  nisa.iota dst=%dst, pattern=[[8, 4], [-4, 2], [2, 2], [0, 2]], offset=%c-7, channel_multiplier=32, name="index"
  // An offset known at run time only.
  // CHECK-NEXT: nisa.iota dst=%dst, pattern=[[1, 32]], offset=%r
  nisa.iota dst=%dst, pattern=[[1, 32]], offset=%r
  // CHECK-NEXT: nki.return
  nki.return
}
