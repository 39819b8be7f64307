// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Moves between partitions and by index: the nearest legal neighbours of the kernels in
// invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.nc_stream_shuffle

// In PSUM.
nki.kernel @shuffle_buffers() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<32x64xf32, #nki.psum>
  nisa.nc_stream_shuffle dst=%far, src=%tile, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nisa.nc_stream_shuffle dst=%tile, src=%far, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// The same, also a packed one.
nki.kernel @shuffle_dtype() target=trn3 {
  %dst = nki.alloc : memref<32x64x!nki.f8E5M2x4, #nki.sbuf>
  %src = nki.alloc : memref<32x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// As many; how they are cut into dimensions does not matter.
nki.kernel @shuffle_free_size() target=trn3 {
  %dst = nki.alloc : memref<32x4x16xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// Every legal first partition.
nki.kernel @shuffle_start() target=trn3 {
  %tile = nki.alloc : memref<128x4xf32, #nki.sbuf>
  %one = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x4xf32, #nki.sbuf>
  %three = nki.alloc : memref<96x4xf32, #nki.sbuf>
  %from32 = nki.view %tile offset=128 pattern=[[4, 32], [1, 4]]
  %from96 = nki.view %tile offset=384 pattern=[[4, 32], [1, 4]]
  %from64 = nki.view %tile offset=256 pattern=[[4, 64], [1, 4]]
  %three0 = nki.view %tile offset=0 pattern=[[4, 96], [1, 4]]
  nisa.nc_stream_shuffle dst=%from32, src=%one, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%from96, src=%one, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%two, src=%from64, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nisa.nc_stream_shuffle dst=%three0, src=%three, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// At 64 both can start.
nki.kernel @shuffle_start_of_both() target=trn3 {
  %tile = nki.alloc : memref<128x4xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x4xf32, #nki.sbuf>
  %from64 = nki.view %tile offset=256 pattern=[[4, 32], [1, 4]]
  nisa.nc_stream_shuffle dst=%from64, src=%two, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// 32.
nki.kernel @shuffle_mask_length() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// The last partition of a quadrant, and the word for none.
nki.kernel @shuffle_mask_entries() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nki.return
}

// 'src' has what 'dst' takes; entries beyond 'dst' are not looked at.
nki.kernel @shuffle_mask_source() target=trn3 {
  %dst = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %one = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%one, src=%two, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nki.return
}

// -------------------- nisa.local_gather

// uint16.
nki.kernel @local_gather_index_dtype() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%out, src_buffer=%tile, index=%index
  nki.return
}

// The same number.
nki.kernel @local_gather_partitions() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  %short = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %short_index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%out, src_buffer=%tile, index=%short_index
  nisa.local_gather dst=%short, src_buffer=%tile, index=%index
  nki.return
}

// Two cores; the first core of a quadrant.
nki.kernel @local_gather_cores() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  %one = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %one_index = nki.alloc : memref<16x4xui16, #nki.sbuf>
  %wide = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %part = nki.view %wide offset=2048 pattern=[[64, 16], [1, 64]]
  nisa.local_gather dst=%out, src_buffer=%tile, index=%index
  nisa.local_gather dst=%one, src_buffer=%part, index=%one_index
  nki.return
}

// Four.
nki.kernel @local_gather_width() target=trn3 {
  %dst = nki.alloc : memref<32x256xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=4
  nki.return
}

// All of them, then one.
nki.kernel @local_gather_valid() target=trn3 {
  %dst = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %one = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_valid_indices=64
  nisa.local_gather dst=%one, src_buffer=%src, index=%index, num_valid_indices=1
  nki.return
}

// As many as it can take; the others are not valid.
nki.kernel @local_gather_limit() target=trn3 {
  %dst = nki.alloc : memref<16x4096xf32, #nki.sbuf>
  %src = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<16x257xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_valid_indices=4096
  nki.return
}

// As many.
nki.kernel @local_gather_source() target=trn3 {
  %dst = nki.alloc : memref<16x512xf32, #nki.sbuf>
  %src = nki.alloc : memref<16x32xf32, #nki.sbuf>
  %index = nki.alloc : memref<16x1xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=32
  nki.return
}

// 64 indices of two elements.
nki.kernel @local_gather_size() target=trn3 {
  %dst = nki.alloc : memref<32x16x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=2
  nki.return
}
