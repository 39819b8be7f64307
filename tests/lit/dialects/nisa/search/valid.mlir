// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Searches: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.max8

// In PSUM.
nki.kernel @max8_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %far_best = nki.alloc : memref<128x8xf32, #nki.psum>
  nisa.max8 dst=%far_best, src=%tile
  nisa.max8 dst=%best, src=%far
  nki.return
}

// The same number.
nki.kernel @max8_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%src
  nki.return
}

// Three are the limit.
nki.kernel @max8_src_dims() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%src
  nki.return
}

// The fewest, and the most.
nki.kernel @max8_elements() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %few = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %many = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%few
  nisa.max8 dst=%dst, src=%many
  nki.return
}

// Eight.
nki.kernel @max8_results() target=trn3 {
  %few = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %many = nki.alloc : memref<128x8xbf16, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%few, src=%src
  nisa.max8 dst=%many, src=%src
  nki.return
}

// Unpacked types.
nki.kernel @max8_packed() target=trn3 {
  %dst = nki.alloc : memref<128x8xf8E5M2, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf8E5M2, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.max8 dst=%dst, src=%tile
  nisa.max8 dst=%best, src=%src
  nki.return
}

// -------------------- nisa.nc_find_index8

// uint16 and uint32.
nki.kernel @find_index8_dst_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %float = nki.alloc : memref<128x8xui16, #nki.sbuf>
  %signed = nki.alloc : memref<128x8xui32, #nki.sbuf>
  nisa.nc_find_index8 dst=%float, data=%tile, vals=%eight
  nisa.nc_find_index8 dst=%signed, data=%tile, vals=%eight
  nki.return
}

// -------------------- nisa.nc_match_replace8

// As many; how they are cut into dimensions does not matter.
nki.kernel @match_replace8_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %vals = nki.alloc : memref<128x8xf32, #nki.sbuf>
  nisa.nc_match_replace8 dst=%dst, data=%data, vals=%vals, imm=0.0
  nki.return
}

// -------------------- nisa.topk

// Two cores; the first core of a quadrant.
nki.kernel @topk_cores() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %one_val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %one_idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %wide = nki.alloc : memref<64x4xbf16, #nki.sbuf>
  %part = nki.view %wide offset=128 pattern=[[4, 16], [1, 4]]
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%one_val, idx_dst=%one_idx, src=%part, n=64
  nki.return
}

// The limits.
nki.kernel @topk_n() target=trn3 {
  %val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4096xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=8
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=65535
  nki.return
}

// For as many.
nki.kernel @topk_source() target=trn3 {
  %val = nki.alloc : memref<16x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nki.return
}

// As many; the most.
nki.kernel @topk_k() target=trn3 {
  %val = nki.alloc : memref<16x64xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<16x64xui32, #nki.sbuf>
  %src = nki.alloc : memref<16x4xbf16, #nki.sbuf>
  %many_val = nki.alloc : memref<16x32767xbf16, #nki.sbuf>
  %many_idx = nki.alloc : memref<16x32767xui32, #nki.sbuf>
  %wide = nki.alloc : memref<16x4000xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.topk val_dst=%many_val, idx_dst=%many_idx, src=%wide, n=64000
  nki.return
}

// The order of the results is left open.
nki.kernel @topk_order() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nki.return
}

// -------------------- nisa.nonzero_with_count

// trn2 is NeuronCore-v3.
nki.kernel @nonzero_generation() target=trn2 {
  %dst = nki.alloc : memref<128x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// One element more than 'src'.
nki.kernel @nonzero_count() target=trn3 {
  %dst = nki.alloc : memref<128x5x13xi32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.nonzero_with_count dst=%dst, src=%src
  nki.return
}

// The first core of a quadrant.
nki.kernel @nonzero_cores() target=trn3 {
  %dst = nki.alloc : memref<16x65xi32, #nki.sbuf>
  %src = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %wide_dst = nki.alloc : memref<64x65xi32, #nki.sbuf>
  %wide_src = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %part_src = nki.view %wide_src offset=2048 pattern=[[64, 16], [1, 64]]
  %part_dst = nki.view %wide_dst offset=2080 pattern=[[65, 16], [1, 65]]
  nisa.nonzero_with_count dst=%dst, src=%part_src
  nisa.nonzero_with_count dst=%part_dst, src=%src
  nki.return
}
