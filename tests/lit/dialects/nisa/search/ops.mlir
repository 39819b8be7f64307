// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the searches: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @searches() target=trn3 {
nki.kernel @searches() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %where = nki.alloc : memref<128x8xui32, #nki.psum>
  // CHECK: nisa.max8 dst=%best, src=%tile
  nisa.max8 dst=%best, src=%tile
  // CHECK-NEXT: nisa.max8 dst=%best, src=%tile, name="largest"
  nisa.max8 dst=%best, src=%tile, name="largest"
  // CHECK-NEXT: nisa.nc_find_index8 dst=%where, data=%tile, vals=%best
  nisa.nc_find_index8 dst=%where, data=%tile, vals=%best
  // CHECK-NEXT: nisa.nc_find_index8 dst=%where, data=%tile, vals=%best, name="find"
  nisa.nc_find_index8 dst=%where, data=%tile, vals=%best, name="find"
  // The number that replaces: an integer, a float, and minus infinity.
  // CHECK-NEXT: nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=-7
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=-7
  // CHECK-NEXT: nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=0.5
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=0.5
  // CHECK-NEXT: nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=0xFF800000, dst_idx=%where, name="replace"
  nisa.nc_match_replace8 dst=%tile, data=%tile, vals=%best, imm=0xFF800000, dst_idx=%where, name="replace"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @gpsimd_searches() target=trn3 {
nki.kernel @gpsimd_searches() target=trn3 {
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %found = nki.alloc : memref<128x65xi32, #nki.sbuf>
  // CHECK: nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=60
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=60
  // CHECK-NEXT: nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64, name="top"
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64, name="top"
  // The fewest arguments.
  // CHECK-NEXT: nisa.nonzero_with_count dst=%found, src=%mask
  nisa.nonzero_with_count dst=%found, src=%mask
  // All arguments.
  // CHECK-NEXT: nisa.nonzero_with_count dst=%found, src=%mask, index_offset=-128, padding_val=2147483647, name="routed"
  nisa.nonzero_with_count dst=%found, src=%mask, index_offset=-128, padding_val=2147483647, name="routed"
  // CHECK-NEXT: nki.return
  nki.return
}
