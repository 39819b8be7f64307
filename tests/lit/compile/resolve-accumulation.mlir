// RUN: nkijit-opt %s -p resolve-accumulation | filecheck %s

// The first matmul of a bank overwrites, the next ones add; so they stay when the tile is filled anew.
// CHECK-LABEL: nki.kernel @group
nki.kernel @group(%x: memref<128x128xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x128xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %sums = nki.alloc : memref<128x128xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.nc_matmul dst=%sums, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a
  // CHECK: nisa.nc_matmul dst=%sums, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a
  nisa.memset dst=%sums, value=2.0
  // CHECK: nisa.nc_matmul dst=%sums, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a
  // CHECK: nisa.nc_matmul dst=%sums, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%sums, stationary=%a, moving=%a, accumulate=false
  nisa.tensor_copy dst=%a, src=%sums
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}
