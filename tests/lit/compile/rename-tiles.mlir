// RUN: nkijit-opt %s -p rename-tiles | filecheck %s

// A buffer that is filled again is another tile, also when it is filled in two halves.
// CHECK-LABEL: nki.kernel @refilled
nki.kernel @refilled(%x: memref<256x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  // CHECK: [[FIRST:%.+]] = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 32]]
  %x2 = nki.view %x offset=8224 pattern=[[64, 128], [1, 32]]
  %o0 = nki.view %out offset=0 pattern=[[64, 128], [1, 64]]
  %o1 = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
  // CHECK: nisa.dma_copy dst=[[FIRST]], src=%x0
  nisa.dma_copy dst=%a, src=%x0
  // CHECK: nisa.dma_copy dst=%o0, src=[[FIRST]]
  nisa.dma_copy dst=%o0, src=%a
  // CHECK: [[SECOND:%.+]] = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK: [[LEFT:%.+]] = nki.view [[SECOND]] offset=0
  // CHECK: nisa.dma_copy dst=[[LEFT]], src=%x1
  nisa.dma_copy dst=%left, src=%x1
  // CHECK: [[RIGHT:%.+]] = nki.view [[SECOND]] offset=32
  // CHECK: nisa.dma_copy dst=[[RIGHT]], src=%x2
  nisa.dma_copy dst=%right, src=%x2
  // CHECK: nisa.dma_copy dst=%o1, src=[[SECOND]]
  nisa.dma_copy dst=%o1, src=%a
  nki.return %out
}

// What was there before is still read, beside what is new: it stays one tile.
// CHECK-LABEL: nki.kernel @half_new
nki.kernel @half_new(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // CHECK: %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%out, src=%a
  nisa.memset dst=%left, value=1.0
  // CHECK-NOT: nki.alloc
  // CHECK: nki.return
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// The author's address is kept.
// CHECK-LABEL: nki.kernel @placed
nki.kernel @placed(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // CHECK: %a = nki.alloc address=[0, 512] : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc address=[0, 512] : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%out, src=%a
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: nki.alloc
  // CHECK: nki.return
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}
