// RUN: nkijit-opt %s -p list-schedule | filecheck %s

// The Vector Engine need not wait for what comes later: what is ready goes first.
// CHECK-LABEL: nki.kernel @two_chains
nki.kernel @two_chains(%x: memref<128x2048xf32, #nki.shared_hbm>, %y: memref<128x2048xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  nisa.dma_copy dst=%b, src=%y
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_tensor dst=%d, data1=%b, data2=%b
  // CHECK: nisa.tensor_tensor dst=%c
  nisa.activation dst=%c, op=exp, data=%a
  nisa.tensor_tensor dst=%c, data1=%c, data2=%a, op=add
  nisa.tensor_tensor dst=%d, data1=%b, data2=%b, op=add
  nisa.activation dst=%d, op=exp, data=%d
  nisa.dma_copy dst=%out, src=%c
  nisa.dma_copy dst=%out2, src=%d
  nki.return (%out, %out2)
}

// What the author orders stays so.
// CHECK-LABEL: nki.kernel @fixed
nki.kernel @fixed(%x: memref<128x2048xf32, #nki.shared_hbm>, %y: memref<128x2048xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  nki.no_reorder {
    nisa.dma_copy dst=%b, src=%y
    nisa.dma_copy dst=%a, src=%x
    // CHECK: nisa.activation dst=%c
    nisa.activation dst=%c, op=exp, data=%a
    // CHECK-NEXT: nisa.tensor_tensor dst=%c
    nisa.tensor_tensor dst=%c, data1=%c, data2=%a, op=add
    nisa.tensor_tensor dst=%d, data1=%b, data2=%b, op=add
    nisa.activation dst=%d, op=exp, data=%d
  }
  nisa.dma_copy dst=%out, src=%c
  nisa.dma_copy dst=%out2, src=%d
  nki.return (%out, %out2)
}
