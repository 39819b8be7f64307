// RUN: nkijit-opt %s -p share-loads | filecheck %s

// What is loaded again while it is in use is read where it is.
// CHECK-LABEL: nki.kernel @in_use
nki.kernel @in_use(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %b offset=0 pattern=[[64, 128], [1, 32]]
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %c = nki.alloc : memref<128x32xf32, #nki.sbuf>
  // CHECK: %left = nki.view %a offset=0
  // CHECK: nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: nisa.dma_copy dst=%b
  nisa.dma_copy dst=%b, src=%x
  // CHECK: nisa.tensor_tensor dst=%c, data1=%left, data2=%right
  nisa.tensor_tensor dst=%c, data1=%left, data2=%right, op=multiply
  nisa.tensor_copy dst=%right, src=%c
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// Nobody reads the first tile any more, so it need not be kept: the load stays.
// CHECK-LABEL: nki.kernel @not_in_use
nki.kernel @not_in_use(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%c, op=exp, data=%a
  // CHECK: nisa.dma_copy dst=%b, src=%x
  nisa.dma_copy dst=%b, src=%x
  nisa.tensor_tensor dst=%c, data1=%c, data2=%b, op=multiply
  nisa.dma_copy dst=%out, src=%c
  nki.return %out
}

// The tensor is written between the loads, or the first tile before the last use.
// CHECK-LABEL: nki.kernel @written
nki.kernel @written(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %part = nki.view %x offset=0 pattern=[[64, 128], [1, 32]]
  %from = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%part, src=%from
  // CHECK: nisa.dma_copy dst=%b, src=%x
  nisa.dma_copy dst=%b, src=%x
  nisa.tensor_tensor dst=%c, data1=%a, data2=%b, op=multiply
  // CHECK: nisa.dma_copy dst=%c, src=%x
  nisa.dma_copy dst=%out2, src=%c
  nisa.dma_copy dst=%c, src=%x
  nisa.memset dst=%b, value=0.0
  nisa.tensor_tensor dst=%b, data1=%c, data2=%b, op=add
  nisa.dma_copy dst=%out, src=%b
  nki.return (%out, %out2)
}

// A loop comes again to what it reads, after it has written the first tile: the second load stays.
// CHECK-LABEL: nki.kernel @written_in_a_loop
nki.kernel @written_in_a_loop(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<4x128x64xf32, #nki.shared_hbm>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.dma_copy dst=%b, src=%x
  nisa.dma_copy dst=%b, src=%x
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %oi = nki.view %out offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
    // CHECK: nisa.tensor_tensor dst=%c, data1=%a, data2=%b, op=add
    nisa.tensor_tensor dst=%c, data1=%a, data2=%b, op=add
    nisa.tensor_tensor dst=%a, data1=%a, data2=%c, op=multiply
    nisa.dma_copy dst=%oi, src=%c
  }
  nki.return %out
}
