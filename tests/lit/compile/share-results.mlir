// RUN: nkijit-opt %s -p share-results | filecheck %s

// What has been computed of the same tiles is read where it is, and so is what is made of it.
// CHECK-LABEL: nki.kernel @computed_again
nki.kernel @computed_again(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %one = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %two = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %half = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x32xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.activation dst=%one, op=exp, data=%a
  nisa.activation dst=%one, op=exp, data=%a
  // CHECK-NEXT: nisa.tensor_tensor dst=%b, data1=%one, data2=%a, op=add
  nisa.tensor_tensor dst=%b, data1=%one, data2=%a, op=add
  nisa.activation dst=%two, op=exp, data=%a
  nisa.tensor_tensor dst=%three, data1=%two, data2=%a, op=add
  // CHECK-NEXT: nisa.tensor_tensor dst=%{{.*}}, data1=%one, data2=%b, op=multiply
  nisa.tensor_tensor dst=%product, data1=%two, data2=%three, op=multiply
  // Another part of a tile, another operator.
  // CHECK-NEXT: nisa.activation dst=%half, op=exp, data=%left
  nisa.activation dst=%half, op=exp, data=%left
  // CHECK-NEXT: nisa.activation dst=%other, op=exp, data=%right
  nisa.activation dst=%other, op=exp, data=%right
  nisa.tensor_tensor dst=%half, data1=%half, data2=%other, op=add
  nisa.dma_copy dst=%out, src=%product
  nki.return %out
}

// Rows are brought to all partitions once, with the ones that this takes.
// CHECK-LABEL: nki.kernel @broadcast_again
nki.kernel @broadcast_again(%x: memref<1x64xf32, #nki.shared_hbm>) target=trn1 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %ones = nki.alloc : memref<1x128xf32, #nki.sbuf>
  %ones2 = nki.alloc : memref<1x128xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x64xf32, #nki.psum>
  %product2 = nki.alloc : memref<128x64xf32, #nki.psum>
  %rows = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %rows2 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%row, src=%x
  // CHECK: nisa.memset dst=%ones
  nisa.memset dst=%ones, value=1.0
  // CHECK-NEXT: nisa.nc_matmul dst=%product
  nisa.nc_matmul dst=%product, stationary=%ones, moving=%row, is_stationary_onezero=true, accumulate=false
  // CHECK-NEXT: nisa.tensor_copy dst=%rows
  nisa.tensor_copy dst=%rows, src=%product
  nisa.memset dst=%ones2, value=1.0
  nisa.nc_matmul dst=%product2, stationary=%ones2, moving=%row, is_stationary_onezero=true, accumulate=false
  nisa.tensor_copy dst=%rows2, src=%product2
  // CHECK-NEXT: nisa.tensor_tensor dst=%sum, data1=%rows, data2=%rows, op=add
  nisa.tensor_tensor dst=%sum, data1=%rows, data2=%rows2, op=add
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// What is read changes in between, or a result does later.
// CHECK-LABEL: nki.kernel @changes
nki.kernel @changes(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %part = nki.view %a offset=0 pattern=[[64, 128], [1, 1]]
  %one = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %two = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %four = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.activation dst=%one
  nisa.activation dst=%one, op=exp, data=%a
  nisa.memset dst=%part, value=0.0
  // CHECK: nisa.activation dst=%two
  nisa.activation dst=%two, op=exp, data=%a
  // CHECK-NEXT: nisa.activation dst=%three
  nisa.activation dst=%three, op=exp, data=%a
  nisa.tensor_tensor dst=%three, data1=%three, data2=%one, op=add
  // CHECK: nisa.memset dst=%four
  nisa.memset dst=%four, value=0.0
  nisa.tensor_tensor dst=%four, data1=%three, data2=%two, op=add
  nisa.dma_copy dst=%out, src=%four
  nki.return %out
}

// In loops an iteration shares with itself only; random numbers are never the same.
// CHECK-LABEL: nki.kernel @blocks
nki.kernel @blocks(%x: memref<4x128x64xf32, #nki.shared_hbm>) target=trn3 {
  %out = nki.alloc : memref<4x128x64xf32, #nki.shared_hbm>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %whole = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %before = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %inside = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %again = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %r = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %r2 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%whole
  nisa.activation dst=%before, op=exp, data=%a
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %oi = nki.view %out offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
    // CHECK: nisa.activation dst=%inside
    nisa.activation dst=%inside, op=exp, data=%a
    // CHECK-NOT: nisa.activation
    nisa.activation dst=%again, op=exp, data=%a
    // CHECK: nisa.tensor_tensor dst=%a, data1=%inside, data2=%inside, op=add
    nisa.tensor_tensor dst=%a, data1=%inside, data2=%again, op=add
    // CHECK: nisa.rng dst=%r
    nisa.rng dst=%r
    // CHECK: nisa.rng dst=%r2
    nisa.rng dst=%r2
    nisa.tensor_tensor dst=%r, data1=%r, data2=%r2, op=add
    nisa.tensor_tensor dst=%a, data1=%a, data2=%r, op=add
    nisa.dma_copy dst=%oi, src=%a
  }
  nisa.dma_copy dst=%whole, src=%before
  nki.return %out
}
