// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of MX instructions: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @nc_matmul_mx() target=trn3 {
nki.kernel @nc_matmul_mx() target=trn3 {
  %dst = nki.alloc : memref<64x256xbf16, #nki.psum>
  %stationary = nki.alloc : memref<32x64x!nki.f4E2M1FNx4, #nki.sbuf>
  %moving = nki.alloc : memref<32x256x!nki.f8E5M2x4, #nki.sbuf>
  %stationary_scale = nki.alloc : memref<4x64xf8E8M0FNU, #nki.sbuf>
  %moving_scale = nki.alloc : memref<4x256xui8, #nki.sbuf>
  // The fewest arguments: whether it overwrites or accumulates is found out when it runs.
  // CHECK: nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale
  // To overwrite and to accumulate are two things, and neither is the default.
  // CHECK-NEXT: nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, accumulate=false
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, accumulate=false
  // An empty tuple is not the default either.
  // CHECK-NEXT: nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[], tile_size=[]
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[], tile_size=[]
  // All arguments.
  // CHECK-NEXT: nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[96, 0], tile_size=[32, 128], accumulate=true, name="block"
  nisa.nc_matmul_mx dst=%dst, stationary=%stationary, moving=%moving, stationary_scale=%stationary_scale, moving_scale=%moving_scale, tile_position=[96, 0], tile_size=[32, 128], accumulate=true, name="block"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @quantize_mx() target=trn3 {
nki.kernel @quantize_mx() target=trn3 {
  %dst = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %src = nki.alloc : memref<32x256xf16, #nki.sbuf>
  %dst_scale = nki.alloc : memref<4x64xui8, #nki.sbuf>
  // CHECK: nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale
  // CHECK-NEXT: nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale, name="pack"
  nisa.quantize_mx dst=%dst, src=%src, dst_scale=%dst_scale, name="pack"
  // CHECK-NEXT: nki.return
  nki.return
}
