// RUN: nkijit-opt %s -p resolve-accumulation,rename-tiles,remove-unused | filecheck %s

// The first matmul overwrites what PSUM has been filled with, so nobody needs that.
// CHECK-LABEL: nki.kernel @filled
nki.kernel @filled(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sums = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: nisa.memset
  nisa.memset dst=%sums, value=0.0
  // CHECK: nisa.nc_matmul dst=[[SUMS:%.+]], stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a
  // CHECK-NEXT: nisa.nc_matmul dst=[[SUMS]], stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a
  nisa.tensor_copy dst=%b, src=%sums
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
