// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of copies and memset: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @dma_copy() target=trn3 {
nki.kernel @dma_copy() target=trn3 {
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %out = nki.alloc : memref<8192xbf16, #nki.shared_hbm>
  // The fewest arguments, into and out of SBUF.
  // CHECK: nisa.dma_copy dst=%dst, src=%src
  nisa.dma_copy dst=%dst, src=%src
  // CHECK-NEXT: nisa.dma_copy dst=%out, src=%dst
  nisa.dma_copy dst=%out, src=%dst
  // All arguments.
  // CHECK-NEXT: nisa.dma_copy dst=%dst, src=%src, priority=3, oob_mode=skip, dge_mode=hwdge, engine=sync, name="load"
  nisa.dma_copy dst=%dst, src=%src, priority=3, oob_mode=skip, dge_mode=hwdge, engine=sync, name="load"
  // The remaining words.
  // CHECK-NEXT: nisa.dma_copy dst=%dst, src=%src, dge_mode=swdge
  nisa.dma_copy dst=%dst, src=%src, dge_mode=swdge
  // CHECK-NEXT: nisa.dma_copy dst=%dst, src=%src, priority=0, dge_mode=none
  nisa.dma_copy dst=%dst, src=%src, priority=0, dge_mode=none
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @tensor_copy() target=trn3 {
nki.kernel @tensor_copy() target=trn3 {
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.psum>
  // CHECK: nisa.tensor_copy dst=%dst, src=%src
  nisa.tensor_copy dst=%dst, src=%src
  // CHECK-NEXT: nisa.tensor_copy dst=%dst, src=%src, engine=scalar, name="evict"
  nisa.tensor_copy dst=%dst, src=%src, engine=scalar, name="evict"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @memset() target=trn3 {
nki.kernel @memset() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // An integer is kept as one, also a large one; a float is a float32.
  // CHECK: nisa.memset dst=%dst, value=0
  nisa.memset dst=%dst, value=0
  // CHECK-NEXT: nisa.memset dst=%dst, value=-2147483648
  nisa.memset dst=%dst, value=-2147483648
  // CHECK-NEXT: nisa.memset dst=%dst, value=4294967295
  nisa.memset dst=%dst, value=4294967295
  // CHECK-NEXT: nisa.memset dst=%dst, value=0.0
  nisa.memset dst=%dst, value=0.0
  // CHECK-NEXT: nisa.memset dst=%dst, value=-0.0
  nisa.memset dst=%dst, value=-0.0
  // CHECK-NEXT: nisa.memset dst=%dst, value=0.1
  nisa.memset dst=%dst, value=0.1
  // CHECK-NEXT: nisa.memset dst=%dst, value=1.0e+30
  nisa.memset dst=%dst, value=1.0e30
  // Infinity and NaN are written as their bits.
  // CHECK-NEXT: nisa.memset dst=%dst, value=0x7F800000
  nisa.memset dst=%dst, value=0x7F800000
  // CHECK-NEXT: nisa.memset dst=%dst, value=0xFF800000
  nisa.memset dst=%dst, value=0xFF800000
  // CHECK-NEXT: nisa.memset dst=%dst, value=0x7FC00000
  nisa.memset dst=%dst, value=0x7FC00000
  // All arguments.
  // CHECK-NEXT: nisa.memset dst=%dst, value=-1.5, engine=gpsimd, name="clear"
  nisa.memset dst=%dst, value=-1.5, engine=gpsimd, name="clear"
  // CHECK-NEXT: nki.return
  nki.return
}
