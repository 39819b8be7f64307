// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of scans: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @tensor_tensor_scan() target=trn3 {
nki.kernel @tensor_tensor_scan() target=trn3 {
  %zero = arith.constant 0 : i32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi8, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments; a number.
  // CHECK: nisa.tensor_tensor_scan dst=%dst, data0=%a, data1=%b, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%dst, data0=%a, data1=%b, initial=%zero, op0=multiply, op1=add
  // All arguments; a tile.
  // CHECK-NEXT: nisa.tensor_tensor_scan dst=%dst, data0=%a, data1=%b, initial=%column, op0=subtract, op1=maximum, reverse0=true, reverse1=true, name="scan"
  nisa.tensor_tensor_scan dst=%dst, data0=%a, data1=%b, initial=%column, op0=subtract, op1=maximum, reverse0=true, reverse1=true, name="scan"
  // CHECK-NEXT: nki.return
  nki.return
}
