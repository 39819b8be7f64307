// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Where operands are and how engines walk them: rules of every instruction. The kernel of the same
// name in valid.mlir differs in the one thing that is wrong and is silent.

// On every engine, in SBUF and in PSUM: 16, 33, 64 and 96 partitions in a row.
// CHECK: error[start-partition]: nisa.tensor_copy: 'src' starts at partition 16; with 16 partitions it can start at 0, 32, 64 or 96
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%out, src=%sixteen
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %sixteen, sbuf 16x8 float32, a view of %tile (sbuf 128x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: give the rows a tile of their own, or move them to a legal partition with nisa.dma_copy
// CHECK: error[start-partition]: nisa.activation: 'data' starts at partition 32; with 33 partitions it can start at 0 or 64
// CHECK: error[start-partition]: nisa.iota: 'dst' starts at partition 1; with 1 partition it can start at 0, 32, 64 or 96
// CHECK: error[start-partition]: nisa.nc_matmul: 'moving' starts at partition 32; with 64 partitions it can start at 0 or 64
// CHECK: error[start-partition]: nisa.tensor_copy: 'dst' starts at partition 32; with 96 partitions it can start at 0
nki.kernel @start_partition() target=trn3 {
  %tile = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x8xf32, #nki.psum>
  %ints = nki.alloc : memref<128x8xi32, #nki.sbuf>
  %out = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out33 = nki.alloc : memref<33x8xf32, #nki.sbuf>
  %stationary = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %dst = nki.alloc : memref<8x8xf32, #nki.psum>
  %from96 = nki.alloc : memref<96x8xf32, #nki.sbuf>
  %sixteen = nki.view %tile offset=128 pattern=[[8, 16], [1, 8]]
  %more = nki.view %tile offset=256 pattern=[[8, 33], [1, 8]]
  %one = nki.view %ints offset=8 pattern=[[8, 1], [1, 8]]
  %half = nki.view %tile offset=256 pattern=[[8, 64], [1, 8]]
  %most = nki.view %far offset=256 pattern=[[8, 96], [1, 8]]
  nisa.tensor_copy dst=%out, src=%sixteen
  nisa.activation dst=%out33, op=exp, data=%more
  nisa.iota dst=%one, pattern=[[1, 8]]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%half
  nisa.tensor_copy dst=%most, src=%from96
  nki.return
}

// What is fixed counts: a tile at partition 16, and the second half of one at 32. The same
// instruction on tiles of the same types before them is legal.
// CHECK: error[start-partition]: nisa.tensor_copy: 'src' starts at partition 16; with 32 partitions it can start at 0, 32, 64 or 96
// CHECK: error[start-partition]: nisa.tensor_copy: 'dst' starts at partition 48; with 16 partitions it can start at 0, 32, 64 or 96
nki.kernel @start_partition_address() target=trn3 {
  %at0 = nki.alloc address=[0, 0] : memref<32x8xf32, #nki.sbuf>
  %at16 = nki.alloc address=[16, 64] : memref<32x8xf32, #nki.sbuf>
  %at32 = nki.alloc address=[32, 128] : memref<32x8xf32, #nki.sbuf>
  %first = nki.view %at0 offset=0 pattern=[[8, 16], [1, 8]]
  %second = nki.view %at32 offset=128 pattern=[[8, 16], [1, 8]]
  nisa.tensor_copy dst=%at0, src=%at32
  nisa.tensor_copy dst=%at0, src=%at16
  nisa.tensor_copy dst=%second, src=%first
  nki.return
}

// Five free dimensions, none of which goes on where the next one ends.
// CHECK: error[access-pattern]: nisa.memset: 'dst' needs 5 dimensions to be walked in a partition, an engine has 4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%view, value=0.0
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %view, sbuf 32x2x2x2x2x2 float32, a view of %tile (sbuf 32x1024 float32), allocated at {{.*}}
// CHECK-NEXT: = help: use several instructions, or copy the elements to a tile of their own with nisa.dma_copy
nki.kernel @access_dimensions() target=trn3 {
  %tile = nki.alloc : memref<32x1024xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[1024, 32], [256, 2], [64, 2], [16, 2], [4, 2], [1, 2]]
  nisa.memset dst=%view, value=0.0
  nki.return
}

// One element too far, in both directions.
// CHECK: error[access-pattern]: nisa.memset: 'dst' has a stride of 32768 elements in a partition, -32768 to 32767 are possible
// CHECK: error[access-pattern]: nisa.memset: 'dst' has a stride of -32769 elements in a partition, -32768 to 32767 are possible
nki.kernel @access_stride() target=trn3 {
  %tile = nki.alloc : memref<32x70000xbf16, #nki.sbuf>
  %forwards = nki.view %tile offset=0 pattern=[[70000, 32], [32768, 2], [1, 8]]
  %backwards = nki.view %tile offset=32769 pattern=[[70000, 32], [-32769, 2], [1, 8]]
  nisa.memset dst=%forwards, value=0.0
  nisa.memset dst=%backwards, value=0.0
  nki.return
}

// A prime number of elements.
// CHECK: error[access-pattern]: nisa.memset: 'dst' has 65537 elements in one dimension of a partition, 65535 are possible, and no two dimensions make this number
nki.kernel @access_count() target=trn3 {
  %tile = nki.alloc : memref<32x65537xui8, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  nki.return
}

// A move to the right by one element, a row that is subtracted from itself, and a cast that needs
// more room than what it casts. The same instruction on tiles of their own before them is legal.
// CHECK: warning[overlap]: nisa.tensor_copy: 'dst' overlaps 'src', whose elements are overwritten before they are read
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%right, src=%left
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %right, sbuf 32x7 float32, a view of %tile (sbuf 32x8 float32), allocated at {{.*}}
// CHECK-NEXT: = src: %left, sbuf 32x7 float32, a view of %tile (sbuf 32x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile of its own, or to exactly what is read
// CHECK: warning[overlap]: nisa.tensor_tensor: 'dst' overlaps 'data2', whose elements are overwritten before they are read
// CHECK: warning[overlap]: nisa.tensor_copy: 'dst' overlaps 'src', whose elements are overwritten before they are read
nki.kernel @overlap_in_step() target=trn3 {
  %tile = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %other = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %right_of_other = nki.view %other offset=1 pattern=[[8, 32], [1, 7]]
  %left = nki.view %tile offset=0 pattern=[[8, 32], [1, 7]]
  %right = nki.view %tile offset=1 pattern=[[8, 32], [1, 7]]
  %first = nki.view %tile offset=0 pattern=[[8, 32], [0, 8]]
  %narrow = nki.view %tile offset=0 pattern=[[16, 32], [1, 8]] as bf16
  nisa.tensor_copy dst=%right_of_other, src=%left
  nisa.tensor_copy dst=%right, src=%left
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%first, op=subtract
  nisa.tensor_copy dst=%tile, src=%narrow
  nki.return
}

// Gathers and transposes in place, and a copy by DMA to the next row.
// CHECK: warning[overlap]: nisa.nc_n_gather: 'dst' overlaps 'data', which is read in another order than it is written in
// CHECK: warning[overlap]: nisa.local_gather: 'dst' overlaps 'src_buffer', which is read in another order than it is written in
// CHECK: warning[overlap]: nisa.dma_transpose: 'dst' overlaps 'src', which is read in another order than it is written in
// CHECK: warning[overlap]: nisa.dma_copy: 'dst' overlaps 'src', and DMA engines move elements in no particular order
nki.kernel @overlap_in_any_order(%x: memref<9x8xf32, #nki.shared_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x16xf32, #nki.sbuf>
  %indices = nki.alloc : memref<16x16xui32, #nki.sbuf>
  %short = nki.alloc : memref<16x1xui16, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[8, 8], [1, 8]]
  %high = nki.view %x offset=8 pattern=[[8, 8], [1, 8]]
  nisa.nc_n_gather dst=%tile, data=%tile, indices=%indices
  nisa.local_gather dst=%tile, src_buffer=%tile, index=%short
  nisa.dma_transpose dst=%tile, src=%tile
  nisa.dma_copy dst=%high, src=%low
  nki.return
}

// CHECK: 11 errors and 7 warnings
