// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Quantisation runs on the Vector Engine. The stationary tile is loaded with its scales.
// CHECK: kernel packed, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 4160 of 245752 bytes per partition, PSUM 3072 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:256, bfloat16], value=0 mx.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=y[sbuf 512, 0:32, 1:1024, bfloat16], value=0 mx.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 QUANTIZE_MX dst=a[sbuf 2560, 0:32, 1:64, float8_e4m3fn_x4], src=x[sbuf 0, 0:32, 1:256, bfloat16], dst_scale=sa[sbuf 2816, 0:4, 1:64, uint8] signal(1) mx.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 QUANTIZE_MX dst=b[sbuf 2880, 0:32, 1:256, float8_e4m3fn_x4], src=y[sbuf 512, 0:32, 1:1024, bfloat16], dst_scale=sb[sbuf 3904, 0:4, 1:256, uint8] signal(2) mx.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 3 instructions
// CHECK-NEXT: 4 wait(vector>=1) LOAD_STATIONARY stationary=a[sbuf 2560, 0:32, 1:64, float8_e4m3fn_x4], stationary_scale=sa[sbuf 2816, 0:4, 1:64, uint8] mx.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(vector>=2) MULTIPLY_MOVING dst=c[psum 0, 0:64, 1:256, float32], moving=b[sbuf 2880, 0:32, 1:256, float8_e4m3fn_x4], moving_scale=sb[sbuf 3904, 0:4, 1:256, uint8], weights=@4 mx.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 MULTIPLY_MOVING dst=d[psum 2048, 0:64, 1:256, float32], moving=b[sbuf 2880, 0:32, 1:256, float8_e4m3fn_x4], moving_scale=sb[sbuf 3904, 0:4, 1:256, uint8], weights=@4 mx.mlir:{{[0-9]+}}
nki.kernel @packed() target=trn3 {
  %x = nki.alloc : memref<32x256xbf16, #nki.sbuf>
  %y = nki.alloc : memref<32x1024xbf16, #nki.sbuf>
  %a = nki.alloc : memref<32x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %b = nki.alloc : memref<32x256x!nki.f8E4M3FNx4, #nki.sbuf>
  %sa = nki.alloc : memref<4x64xui8, #nki.sbuf>
  %sb = nki.alloc : memref<4x256xui8, #nki.sbuf>
  %c = nki.alloc : memref<64x256xf32, #nki.psum>
  %d = nki.alloc : memref<64x256xf32, #nki.psum>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%y, value=0
  nisa.quantize_mx dst=%a, src=%x, dst_scale=%sa
  nisa.quantize_mx dst=%b, src=%y, dst_scale=%sb
  nisa.nc_matmul_mx dst=%c, stationary=%a, moving=%b, stationary_scale=%sa, moving_scale=%sb
  nisa.nc_matmul_mx dst=%d, stationary=%a, moving=%b, stationary_scale=%sa, moving_scale=%sb
  nki.return
}
