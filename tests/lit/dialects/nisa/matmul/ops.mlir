// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the Tensor Engine's instructions: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @nc_matmul() target=trn3 {
nki.kernel @nc_matmul() target=trn3 {
  %dst = nki.alloc : memref<64x256xf32, #nki.psum>
  %stationary = nki.alloc : memref<64x64xbf16, #nki.sbuf>
  %moving = nki.alloc : memref<64x256xbf16, #nki.sbuf>
  %stationary_rows = nki.alloc : memref<64x2x64xf8E4M3, #nki.sbuf>
  %moving_rows = nki.alloc : memref<64x2x256xf8E5M2, #nki.sbuf>
  // The fewest arguments: whether it overwrites or accumulates is found out when it runs.
  // CHECK: nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving
  // To overwrite and to accumulate are two things, and neither is the default.
  // CHECK-NEXT: nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, accumulate=false
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, accumulate=false
  // CHECK-NEXT: nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, accumulate=true
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%moving, accumulate=true
  // All arguments.
  // CHECK-NEXT: nisa.nc_matmul dst=%dst, stationary=%stationary_rows, moving=%moving_rows, is_stationary_onezero=true, is_moving_onezero=true, is_transpose=true, accumulate=true, tile_position=[64, 0], tile_size=[64, 128], perf_mode=double_row, name="block"
  nisa.nc_matmul dst=%dst, stationary=%stationary_rows, moving=%moving_rows, is_stationary_onezero=true, is_moving_onezero=true, is_transpose=true, accumulate=true, tile_position=[64, 0], tile_size=[64, 128], perf_mode=double_row, name="block"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @nc_transpose() target=trn3 {
nki.kernel @nc_transpose() target=trn3 {
  %dst = nki.alloc : memref<64x128xbf16, #nki.psum>
  %data = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  // CHECK: nisa.nc_transpose dst=%dst, data=%data
  nisa.nc_transpose dst=%dst, data=%data
  // CHECK-NEXT: nisa.nc_transpose dst=%dst, data=%data, engine=tensor, name="flip"
  nisa.nc_transpose dst=%dst, data=%data, engine=tensor, name="flip"
  // CHECK-NEXT: nki.return
  nki.return
}
