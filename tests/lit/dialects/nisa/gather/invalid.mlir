// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Moves between partitions and by index: what the rules forbid. A kernel here breaks one rule, for
// one operand or argument after the other; where it cannot break one alone, its comment says so.
// The kernel of the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.nc_stream_shuffle

// 'dst', then 'src', is in HBM.
// CHECK: error[buffer]: nisa.nc_stream_shuffle: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%far, src=%tile, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 32x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.nc_stream_shuffle: 'src' must be in sbuf or psum, it is in private_hbm
nki.kernel @shuffle_buffers() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<32x64xf32, #nki.private_hbm>
  nisa.nc_stream_shuffle dst=%far, src=%tile, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nisa.nc_stream_shuffle dst=%tile, src=%far, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// 'dst' has another data type.
// CHECK: error[same-dtype]: nisa.nc_stream_shuffle: different data types: 'src' is float32, 'dst' is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 32x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 32x64 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
nki.kernel @shuffle_dtype() target=trn3 {
  %dst = nki.alloc : memref<32x64xbf16, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// 'dst' has half of the elements.
// CHECK: error[free-size-match]: nisa.nc_stream_shuffle: different numbers of elements per partition: 'src' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 32x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 32x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, src[:, 0:32], or allocate 'dst' with 64 elements per partition
nki.kernel @shuffle_free_size() target=trn3 {
  %dst = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// Of 32 partitions, the first may not be 16; of 64, not 32; of 96, not 32.
// CHECK: error[start-partition]: nisa.nc_stream_shuffle: 'dst' starts at partition 16; with 32 partitions it can start at 0, 32, 64 or 96
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%from16, src=%one, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %from16, sbuf 32x4 float32, a view of %tile (sbuf 128x4 float32), allocated at {{.*}}
// CHECK-NEXT: = help: give the rows a tile of their own, or move them to a legal partition with nisa.dma_copy
// CHECK: error[start-partition]: nisa.nc_stream_shuffle: 'src' starts at partition 32; with 64 partitions it can start at 0 or 64
// CHECK: error[start-partition]: nisa.nc_stream_shuffle: 'dst' starts at partition 32; with 96 partitions it can start at 0
nki.kernel @shuffle_start() target=trn3 {
  %tile = nki.alloc : memref<128x4xf32, #nki.sbuf>
  %one = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x4xf32, #nki.sbuf>
  %three = nki.alloc : memref<96x4xf32, #nki.sbuf>
  %from16 = nki.view %tile offset=64 pattern=[[4, 32], [1, 4]]
  %from32 = nki.view %tile offset=128 pattern=[[4, 64], [1, 4]]
  %three32 = nki.view %tile offset=128 pattern=[[4, 96], [1, 4]]
  nisa.nc_stream_shuffle dst=%from16, src=%one, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%two, src=%from32, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nisa.nc_stream_shuffle dst=%three32, src=%three, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// The larger tile counts for both: 32 partitions start at 32, but not beside 64.
// CHECK: error[shuffle-start]: nisa.nc_stream_shuffle: 'dst' starts at partition 32; as many partitions as 'src' has, 64, start at 0 or 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%from32, src=%two, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %from32, sbuf 32x4 float32, a view of %tile (sbuf 128x4 float32), allocated at {{.*}}
// CHECK-NEXT: = src: %two, sbuf 64x4 float32, allocated at {{.*}}
// CHECK-NEXT: = help: move the slice to a legal first partition, or shuffle a quadrant at a time
nki.kernel @shuffle_start_of_both() target=trn3 {
  %tile = nki.alloc : memref<128x4xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x4xf32, #nki.sbuf>
  %from32 = nki.view %tile offset=128 pattern=[[4, 32], [1, 4]]
  nisa.nc_stream_shuffle dst=%from32, src=%two, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nki.return
}

// The mask has 31 entries, then 33.
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: 'shuffle_mask' has 31 entries, it must have 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: give one source partition or 255 for each of the 32 partitions of a quadrant
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: 'shuffle_mask' has 33 entries, it must have 32
nki.kernel @shuffle_mask_length() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nki.return
}

// Entries that name no partition of a quadrant.
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: entry 1 of 'shuffle_mask' is 32, not 0 to 31 or 255
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: entry 0 of 'shuffle_mask' is -1, not 0 to 31 or 255
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: entry 1 of 'shuffle_mask' is 254, not 0 to 31 or 255
nki.kernel @shuffle_mask_entries() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%tile, src=%tile, shuffle_mask=[0, 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nki.return
}

// 'dst' takes partitions that 'src' does not have, of its quadrant, then in the next one.
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: partition 3 of 'dst' takes partition 4 of 'src', which has 4
// CHECK: error[shuffle-mask]: nisa.nc_stream_shuffle: partition 32 of 'dst' takes partition 32 of 'src', which has 32
nki.kernel @shuffle_mask_source() target=trn3 {
  %dst = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %two = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %one = nki.alloc : memref<32x64xf32, #nki.sbuf>
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nisa.nc_stream_shuffle dst=%two, src=%one, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  nki.return
}

// -------------------- nisa.local_gather

// Indices are not uint32.
// CHECK: error[dtype]: nisa.local_gather: 'index' must be uint16, it is uint32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.local_gather dst=%out, src_buffer=%tile, index=%index
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = index: %index, sbuf 32x4 uint32, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
nki.kernel @local_gather_index_dtype() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui32, #nki.sbuf>
  nisa.local_gather dst=%out, src_buffer=%tile, index=%index
  nki.return
}

// 'index', then 'dst', has other partitions than 'src_buffer'.
// CHECK: error[partitions-match]: nisa.local_gather: different numbers of partitions: 'src_buffer' has 32, 'index' has 16, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.local_gather dst=%out, src_buffer=%tile, index=%short_index
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src_buffer: %tile, sbuf 32x64 float32, allocated at {{.*}}
// CHECK-NEXT: = index: %short_index, sbuf 16x4 uint16, allocated at {{.*}}
// CHECK-NEXT: = dst: %out, sbuf 32x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice to the same number of partitions: tile[0:16], out[0:16]
// CHECK: error[partitions-match]: nisa.local_gather: different numbers of partitions: 'src_buffer' has 32, 'index' has 32, 'dst' has 16
nki.kernel @local_gather_partitions() target=trn3 {
  %tile = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  %short = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %short_index = nki.alloc : memref<16x4xui16, #nki.sbuf>
  nisa.local_gather dst=%out, src_buffer=%tile, index=%short_index
  nisa.local_gather dst=%short, src_buffer=%tile, index=%index
  nki.return
}

// A core and a half; then a tile that starts with the second half of a core, and one that starts
// with the second core of a quadrant.
// CHECK: error[gpsimd-cores]: nisa.local_gather: 'src_buffer' has 24 partitions, not a multiple of 16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.local_gather dst=%out, src_buffer=%tile, index=%index
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src_buffer: %tile, sbuf 24x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tile with a multiple of 16 partitions, and use a part of it
// CHECK: error[start-partition]: nisa.local_gather: 'src_buffer' starts at partition 8; with 16 partitions it can start at 0, 32, 64 or 96
// CHECK: error[start-partition]: nisa.local_gather: 'src_buffer' starts at partition 16; with 16 partitions it can start at 0, 32, 64 or 96
nki.kernel @local_gather_cores() target=trn3 {
  %tile = nki.alloc : memref<24x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<24x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<24x4xui16, #nki.sbuf>
  %one = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %one_index = nki.alloc : memref<16x4xui16, #nki.sbuf>
  %wide = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %half = nki.view %wide offset=512 pattern=[[64, 16], [1, 64]]
  %second = nki.view %wide offset=1024 pattern=[[64, 16], [1, 64]]
  nisa.local_gather dst=%out, src_buffer=%tile, index=%index
  nisa.local_gather dst=%one, src_buffer=%half, index=%one_index
  nisa.local_gather dst=%one, src_buffer=%second, index=%one_index
  nki.return
}

// Three elements per index.
// CHECK: error[gather-size]: nisa.local_gather: 'num_elem_per_idx' must be one of 1, 2, 4, 8, 16, 32, it is 3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=3
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass num_elem_per_idx=1, 2, 4, 8, 16 or 32, and allocate dst with num_valid_indices * num_elem_per_idx elements per partition
nki.kernel @local_gather_width() target=trn3 {
  %dst = nki.alloc : memref<32x192xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=3
  nki.return
}

// More valid indices than there are, then none.
// CHECK: error[gather-size]: nisa.local_gather: 'num_valid_indices' is 65, 16 partitions of 'index' have 64
// CHECK: error[gather-size]: nisa.local_gather: 'num_valid_indices' is 0, 16 partitions of 'index' have 64
nki.kernel @local_gather_valid() target=trn3 {
  %dst = nki.alloc : memref<32x65xf32, #nki.sbuf>
  %one = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_valid_indices=65
  nisa.local_gather dst=%one, src_buffer=%src, index=%index, num_valid_indices=0
  nki.return
}

// Each core has 16 indices too many.
// CHECK: error[gather-size]: nisa.local_gather: each core has 4112 indices, at most 4096 are possible
nki.kernel @local_gather_limit() target=trn3 {
  %dst = nki.alloc : memref<16x4112xf32, #nki.sbuf>
  %src = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<16x257xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index
  nki.return
}

// A partition of 'src_buffer' has fewer elements than are read at each index.
// CHECK: error[gather-size]: nisa.local_gather: 'num_elem_per_idx' is 32, 'src_buffer' has 16 elements per partition
nki.kernel @local_gather_source() target=trn3 {
  %dst = nki.alloc : memref<16x512xf32, #nki.sbuf>
  %src = nki.alloc : memref<16x16xf32, #nki.sbuf>
  %index = nki.alloc : memref<16x1xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=32
  nki.return
}

// 'dst' is not as large as what is gathered.
// CHECK: error[gather-size]: nisa.local_gather: 64 indices of 2 elements are 128 per partition, 'dst' has 64
nki.kernel @local_gather_size() target=trn3 {
  %dst = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x4xui16, #nki.sbuf>
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=2
  nki.return
}

// CHECK: 27 errors
