// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the reductions: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @tensor_reduce() target=trn3 {
nki.kernel @tensor_reduce() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %kept = nki.alloc : memref<128x1x1xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.psum>
  // The fewest arguments; an axis from the front, and from the back.
  // CHECK: nisa.tensor_reduce dst=%dst, op=maximum, data=%data, axis=[2]
  nisa.tensor_reduce dst=%dst, op=maximum, data=%data, axis=[2]
  // CHECK-NEXT: nisa.tensor_reduce dst=%dst, op=logical_or, data=%data, axis=[-1]
  nisa.tensor_reduce dst=%dst, op=logical_or, data=%data, axis=[-1]
  // All arguments.
  // CHECK-NEXT: nisa.tensor_reduce dst=%kept, op=add, data=%data, axis=[1, 2], negate=true, keepdims=true, name="total"
  nisa.tensor_reduce dst=%kept, op=add, data=%data, axis=[1, 2], negate=true, keepdims=true, name="total"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @tensor_partition_reduce() target=trn3 {
nki.kernel @tensor_partition_reduce() target=trn3 {
  %dst = nki.alloc : memref<1x8x4xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xbf16, #nki.sbuf>
  // CHECK: nisa.tensor_partition_reduce dst=%dst, op=average, data=%data
  nisa.tensor_partition_reduce dst=%dst, op=average, data=%data
  // CHECK-NEXT: nisa.tensor_partition_reduce dst=%dst, op=maximum, data=%data, name="most"
  nisa.tensor_partition_reduce dst=%dst, op=maximum, data=%data, name="most"
  // CHECK-NEXT: nki.return
  nki.return
}
