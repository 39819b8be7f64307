// RUN: nkijit-opt %s -p forward-copies,remove-unused | filecheck %s

// Who reads a part of a copy reads its source.
// CHECK-LABEL: nki.kernel @read
nki.kernel @read(%x: memref<128x128xbf16, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x128xf32, #nki.psum>
  // CHECK-NOT: %copied
  %copied = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %left = nki.view %copied offset=0 pattern=[[128, 128], [1, 64]]
  %right = nki.view %b offset=64 pattern=[[128, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x
  nisa.nc_matmul dst=%product, stationary=%a, moving=%a, accumulate=false
  // CHECK-NOT: nisa.tensor_copy
  nisa.tensor_copy dst=%copied, src=%product
  nisa.memset dst=%b, value=1.0
  // CHECK: [[LEFT:%.+]] = nki.view %product offset=0
  // CHECK: nisa.tensor_tensor dst=%right, data1=[[LEFT]], data2=%right, op=add
  nisa.tensor_tensor dst=%right, data1=%left, data2=%right, op=add
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// What two instructions read does not stay in PSUM for them: one of two copies is enough.
// CHECK-LABEL: nki.kernel @read_twice
nki.kernel @read_twice(%x: memref<128x128xbf16, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x128xf32, #nki.psum>
  %copied = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %again = nki.alloc : memref<128x128xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.nc_matmul dst=%product, stationary=%a, moving=%a, accumulate=false
  nisa.tensor_copy dst=%copied, src=%product
  // CHECK: nisa.tensor_copy dst=%again, src=%product
  nisa.tensor_copy dst=%again, src=%copied
  // CHECK-NEXT: nisa.tensor_scalar dst=%b, data=%again, op0=abs
  nisa.tensor_scalar dst=%b, data=%again, op0=abs
  // CHECK-NEXT: nisa.tensor_tensor dst=%b, data1=%again, data2=%b, op=add
  nisa.tensor_tensor dst=%b, data1=%again, data2=%b, op=add
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// DMA does not reach PSUM, nor do matmuls read it, nor is it read twice: the copies stay.
// CHECK-LABEL: nki.kernel @must_be_in_sbuf
nki.kernel @must_be_in_sbuf(%x: memref<128x128xbf16, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x128xf32, #nki.psum>
  %one = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %two = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %again = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  nisa.nc_matmul dst=%product, stationary=%a, moving=%a, accumulate=false
  // CHECK: nisa.tensor_copy dst=%one
  nisa.tensor_copy dst=%one, src=%product
  nisa.dma_copy dst=%out, src=%one
  // CHECK: nisa.tensor_copy dst=%two
  nisa.tensor_copy dst=%two, src=%product
  nisa.nc_matmul dst=%again, stationary=%two, moving=%two, accumulate=false
  // CHECK: nisa.tensor_copy dst=%three
  nisa.tensor_copy dst=%three, src=%product
  nisa.tensor_tensor dst=%b, data1=%three, data2=%again, op=add
  nisa.dma_copy dst=%out2, src=%b
  nki.return (%out, %out2)
}

// The source changes before the copy is read, or the copy itself does, or bits change.
// CHECK-LABEL: nki.kernel @changes
nki.kernel @changes(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %one = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %two = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_copy dst=%one
  nisa.tensor_copy dst=%one, src=%a
  nisa.activation dst=%a, op=exp, data=%a
  nisa.tensor_tensor dst=%a, data1=%a, data2=%one, op=add
  // CHECK: nisa.tensor_copy dst=%two
  nisa.tensor_copy dst=%two, src=%a
  nisa.tensor_scalar dst=%two, data=%two, op0=abs
  nisa.tensor_tensor dst=%a, data1=%a, data2=%two, op=add
  // CHECK: nisa.tensor_copy dst=%three
  nisa.tensor_copy dst=%three, src=%a
  nisa.tensor_tensor dst=%two, data1=%a, data2=%three, op=add
  nisa.dma_copy dst=%out, src=%two
  nki.return %out
}
