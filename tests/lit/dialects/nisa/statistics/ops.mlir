// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of means and variances: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @bn_stats() target=trn3 {
nki.kernel @bn_stats() target=trn3 {
  %dst = nki.alloc : memref<128x2x3xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x512xbf16, #nki.psum>
  // CHECK: nisa.bn_stats dst=%dst, data=%data
  nisa.bn_stats dst=%dst, data=%data
  // CHECK-NEXT: nisa.bn_stats dst=%dst, data=%data, name="stats"
  nisa.bn_stats dst=%dst, data=%data, name="stats"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @bn_aggr() target=trn3 {
nki.kernel @bn_aggr() target=trn3 {
  %dst = nki.alloc : memref<128x2xbf16, #nki.psum>
  %data = nki.alloc : memref<128x4x3xf32, #nki.sbuf>
  // CHECK: nisa.bn_aggr dst=%dst, data=%data
  nisa.bn_aggr dst=%dst, data=%data
  // CHECK-NEXT: nisa.bn_aggr dst=%dst, data=%data, name="moments"
  nisa.bn_aggr dst=%dst, data=%data, name="moments"
  // CHECK-NEXT: nki.return
  nki.return
}
