// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Where operands are and how engines walk them: the nearest legal neighbours of the kernels in
// invalid.mlir, by the same names.

// CHECK: no findings

// 32 and fewer in any quadrant, 33 to 64 in either half, more from the first partition on; also of
// allocations that are no whole number of quadrants. DMA reaches every partition.
nki.kernel @start_partition(%x: memref<16x8xf32, #nki.shared_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x8xf32, #nki.psum>
  %ints = nki.alloc : memref<128x8xi32, #nki.sbuf>
  %out = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out33 = nki.alloc : memref<33x8xf32, #nki.sbuf>
  %stationary = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %dst = nki.alloc : memref<8x8xf32, #nki.psum>
  %from96 = nki.alloc : memref<96x8xf32, #nki.sbuf>
  %sixteen = nki.view %tile offset=128 pattern=[[8, 16], [1, 8]]
  %quadrant = nki.view %tile offset=768 pattern=[[8, 16], [1, 8]]
  %more = nki.view %tile offset=512 pattern=[[8, 33], [1, 8]]
  %one = nki.view %ints offset=256 pattern=[[8, 1], [1, 8]]
  %half = nki.view %tile offset=512 pattern=[[8, 64], [1, 8]]
  %most = nki.view %far offset=0 pattern=[[8, 96], [1, 8]]
  nisa.dma_copy dst=%sixteen, src=%x
  nisa.tensor_copy dst=%out, src=%quadrant
  nisa.activation dst=%out33, op=exp, data=%more
  nisa.iota dst=%one, pattern=[[1, 8]]
  nisa.nc_matmul dst=%dst, stationary=%stationary, moving=%half
  nisa.tensor_copy dst=%most, src=%from96
  nki.return
}

// A tile at partition 64, and the second half of one at partition 16.
nki.kernel @start_partition_address() target=trn3 {
  %at0 = nki.alloc address=[0, 0] : memref<32x8xf32, #nki.sbuf>
  %at16 = nki.alloc address=[16, 64] : memref<32x8xf32, #nki.sbuf>
  %at64 = nki.alloc address=[64, 128] : memref<32x8xf32, #nki.sbuf>
  %first = nki.view %at0 offset=0 pattern=[[8, 16], [1, 8]]
  %second = nki.view %at16 offset=128 pattern=[[8, 16], [1, 8]]
  nisa.tensor_copy dst=%at0, src=%at64
  nisa.tensor_copy dst=%second, src=%first
  nki.return
}

// Two of the five are one run. A DMA has no such limit.
nki.kernel @access_dimensions(%x: memref<32x2x2x2x2x2xf32, #nki.shared_hbm>) target=trn3 {
  %tile = nki.alloc : memref<32x1024xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[1024, 32], [256, 2], [64, 2], [16, 2], [2, 2], [1, 2]]
  %five = nki.view %tile offset=0 pattern=[[1024, 32], [256, 2], [64, 2], [16, 2], [4, 2], [1, 2]]
  nisa.memset dst=%view, value=0.0
  nisa.dma_copy dst=%five, src=%x
  nki.return
}

// The longest strides; a dimension of one element has none.
nki.kernel @access_stride() target=trn3 {
  %tile = nki.alloc : memref<32x70000xbf16, #nki.sbuf>
  %forwards = nki.view %tile offset=0 pattern=[[70000, 32], [32767, 2], [1, 8]]
  %backwards = nki.view %tile offset=32768 pattern=[[70000, 32], [-32768, 2], [1, 8]]
  %one = nki.view %tile offset=0 pattern=[[70000, 32], [40000, 1], [1, 8]]
  nisa.memset dst=%forwards, value=0.0
  nisa.memset dst=%backwards, value=0.0
  nisa.memset dst=%one, value=0.0
  nki.return
}

// 65536 elements are two by 32768.
nki.kernel @access_count() target=trn3 {
  %tile = nki.alloc : memref<32x65536xui8, #nki.sbuf>
  %odd = nki.alloc : memref<32x65535xui8, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  nisa.memset dst=%odd, value=0
  nki.return
}

// A move to the left, a row from each of its elements, a cast to less room; and halves.
nki.kernel @overlap_in_step() target=trn3 {
  %tile = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %other = nki.alloc : memref<32x8xf32, #nki.sbuf>
  %left = nki.view %tile offset=0 pattern=[[8, 32], [1, 7]]
  %right = nki.view %tile offset=1 pattern=[[8, 32], [1, 7]]
  %first = nki.view %other offset=0 pattern=[[8, 32], [0, 8]]
  %narrow = nki.view %tile offset=0 pattern=[[16, 32], [1, 8]] as bf16
  %low = nki.view %tile offset=0 pattern=[[8, 32], [1, 4]]
  %high = nki.view %tile offset=4 pattern=[[8, 32], [1, 4]]
  nisa.tensor_copy dst=%left, src=%right
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%first, op=subtract
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=multiply
  nisa.tensor_copy dst=%narrow, src=%tile
  nisa.tensor_copy dst=%high, src=%low
  nki.return
}

// To tiles of their own, and a copy by DMA to the same place.
nki.kernel @overlap_in_any_order(%x: memref<9x8xf32, #nki.shared_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x16xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x16xf32, #nki.sbuf>
  %indices = nki.alloc : memref<16x16xui32, #nki.sbuf>
  %short = nki.alloc : memref<16x1xui16, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[8, 4], [1, 8]]
  %high = nki.view %x offset=32 pattern=[[8, 4], [1, 8]]
  nisa.nc_n_gather dst=%out, data=%tile, indices=%indices
  nisa.local_gather dst=%out, src_buffer=%tile, index=%short
  nisa.dma_transpose dst=%out, src=%tile
  nisa.dma_copy dst=%low, src=%low
  nisa.dma_copy dst=%high, src=%low
  nki.return
}
