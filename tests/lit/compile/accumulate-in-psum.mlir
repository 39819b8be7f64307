// RUN: nkijit-opt %s -p accumulate-in-psum,remove-unused | filecheck %s

// The first matmul overwrites in the place of a memset. Zero is added at the end, which makes a zero
// of a negative one.
// CHECK-LABEL: nki.kernel @from_zero
nki.kernel @from_zero(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x128xf32, #nki.sbuf>
  // CHECK: %one = nki.alloc : memref<128x128xf32, #nki.psum>
  // CHECK-NOT: nki.alloc
  %one = nki.alloc : memref<128x128xf32, #nki.psum>
  %two = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: nisa.memset
  nisa.memset dst=%sum, value=0.0, engine=gpsimd
  // CHECK: nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%one, op=add
  // CHECK-NEXT: nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%two, stationary=%a, moving=%a, accumulate=false
  // CHECK: [[ZERO:%.+]] = arith.constant 0.0
  // CHECK-NEXT: nisa.tensor_scalar dst=%sum, data=%one, op0=add, operand0=[[ZERO]]
  nisa.tensor_tensor dst=%sum, data1=%two, data2=%sum, op=add
  // CHECK-NEXT: nisa.dma_copy dst=%out, src=%sum
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// The sum begins with a group of matmuls, which goes on.
// CHECK-LABEL: nki.kernel @from_matmuls
nki.kernel @from_matmuls(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %one = nki.alloc : memref<128x128xf32, #nki.psum>
  %two = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  // CHECK-NEXT: nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=true
  // CHECK-NEXT: nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=true
  nisa.tensor_copy dst=%sum, src=%one
  nisa.nc_matmul dst=%two, stationary=%a, moving=%a, accumulate=false
  // CHECK-NEXT: nisa.tensor_copy dst=%sum, src=%one
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%two, op=add
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// Two matmuls that add up before they are added are another order of additions.
// CHECK-LABEL: nki.kernel @group_of_two
nki.kernel @group_of_two(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %one = nki.alloc : memref<128x128xf32, #nki.psum>
  %two = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  nisa.memset dst=%sum, value=0.0
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=true
  // CHECK: nisa.tensor_tensor dst=%sum, data1=%sum, data2=%one
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%one, op=add
  nisa.nc_matmul dst=%two, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%two, stationary=%a, moving=%a, accumulate=true
  // CHECK: nisa.tensor_tensor dst=%sum, data1=%sum, data2=%two
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%two, op=add
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// The sum is read on its way: what comes after begins with no zero. And a bfloat16 tile rounds each time.
// CHECK-LABEL: nki.kernel @seen
nki.kernel @seen(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x128xbf16, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %rounded = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %one = nki.alloc : memref<128x128xf32, #nki.psum>
  %two = nki.alloc : memref<128x128xf32, #nki.psum>
  %three = nki.alloc : memref<128x128xf32, #nki.psum>
  %four = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  nisa.memset dst=%sum, value=0.0
  nisa.nc_matmul dst=%one, stationary=%a, moving=%a, accumulate=false
  // CHECK: nisa.tensor_scalar dst=%sum, data=%one
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%one, op=add
  nisa.dma_copy dst=%out, src=%sum
  nisa.nc_matmul dst=%two, stationary=%a, moving=%a, accumulate=false
  // CHECK: nisa.tensor_tensor dst=%sum, data1=%sum, data2=%two
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%two, op=add
  nisa.dma_copy dst=%out, src=%sum
  nisa.memset dst=%rounded, value=0.0
  nisa.nc_matmul dst=%three, stationary=%a, moving=%a, accumulate=false
  // CHECK: nisa.tensor_tensor dst=%rounded, data1=%rounded, data2=%three
  nisa.tensor_tensor dst=%rounded, data1=%rounded, data2=%three, op=add
  nisa.nc_matmul dst=%four, stationary=%a, moving=%a, accumulate=false
  // CHECK: nisa.tensor_tensor dst=%rounded, data1=%rounded, data2=%four
  nisa.tensor_tensor dst=%rounded, data1=%rounded, data2=%four, op=add
  nisa.dma_copy dst=%out2, src=%rounded
  nki.return (%out, %out2)
}
