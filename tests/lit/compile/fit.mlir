// RUN: nkijit-opt -p fit %s | filecheck %s

// What is loaded from a tensor that nothing writes waits there: of five tiles of 64 KiB in each
// partition three have room. What has the furthest next use goes.
// CHECK-LABEL: nki.kernel @loaded
nki.kernel @loaded(%x: memref<128x16384xf32, #nki.private_hbm>, %y: memref<128x16384xf32, #nki.private_hbm>) target=trn2 {
  %a = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x16384xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%y
  nisa.dma_copy dst=%c, src=%x
  nisa.dma_copy dst=%d, src=%y
  // CHECK: nisa.dma_copy dst=%a, src=%x
  // CHECK-NEXT: nisa.dma_copy dst=%b, src=%y
  // CHECK-NEXT: nisa.tensor_tensor dst=%a
  nisa.tensor_tensor dst=%a, data1=%a, data2=%b, op=add
  // CHECK-NOT: private_hbm
  // CHECK: nisa.dma_copy dst=%c, src=%x
  // CHECK-NEXT: nisa.tensor_tensor dst=%a, data1=%a, data2=%c
  nisa.tensor_tensor dst=%a, data1=%a, data2=%c, op=add
  // CHECK: nisa.dma_copy dst=%d, src=%y
  // CHECK-NEXT: nisa.tensor_tensor dst=%a, data1=%a, data2=%d
  nisa.tensor_tensor dst=%a, data1=%a, data2=%d, op=add
  // CHECK: nisa.dma_copy dst=%out, src=%a
  nisa.dma_copy dst=%out, src=%a
  nki.return (%out)
}

// What has been computed is stored, and loaded into another tile.
// CHECK-LABEL: nki.kernel @computed
nki.kernel @computed() target=trn2 {
  %a = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x20000xf32, #nki.shared_hbm>
  nisa.memset dst=%a, value=1
  nisa.memset dst=%b, value=2
  // CHECK: %[[KEPT:.*]] = nki.alloc : memref<128x20000xf32, #nki.private_hbm>
  // CHECK-NEXT: nisa.dma_copy dst=%[[KEPT]], src=%a
  // CHECK-NEXT: nisa.tensor_copy dst=%c, src=%b
  nisa.tensor_copy dst=%c, src=%b
  // CHECK: %[[AGAIN:.*]] = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  // CHECK-NEXT: nisa.dma_copy dst=%[[AGAIN]], src=%[[KEPT]]
  // CHECK-NEXT: nisa.tensor_tensor dst=%[[AGAIN]], data1=%[[AGAIN]], data2=%c
  nisa.tensor_tensor dst=%a, data1=%a, data2=%c, op=add
  // CHECK: nisa.dma_copy dst=%out, src=%[[AGAIN]]
  nisa.dma_copy dst=%out, src=%a
  nki.return (%out)
}

// Addresses from the author stay, and what is in a loop stays.
// CHECK-LABEL: nki.kernel @fixed
// CHECK-NOT: #nki.private_hbm
nki.kernel @fixed() target=trn2 {
  %a = nki.alloc address=[0, 0] : memref<128x40000xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 0] : memref<128x40000xf32, #nki.sbuf>
  nisa.memset dst=%a, value=1
  nisa.memset dst=%b, value=1
  nisa.tensor_copy dst=%a, src=%b
  nki.return
}
