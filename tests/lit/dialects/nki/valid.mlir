// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Allocations and views: the nearest legal neighbours of the kernels in invalid.mlir, by the
// same names.

// CHECK: no findings

// 128; a tensor in HBM has no such limit.
nki.kernel @alloc_partitions() target=trn3 {
  %sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<128x64xf32, #nki.psum>
  %hbm = nki.alloc : memref<4096x64xf32, #nki.private_hbm>
  nki.return
}

// All of it.
nki.kernel @alloc_size_trn1() target=trn1 {
  %tile = nki.alloc : memref<128x45056xf32, #nki.sbuf>
  nki.return
}

// All of it.
nki.kernel @alloc_size_trn2() target=trn2 {
  %tile = nki.alloc : memref<128x53246xf32, #nki.sbuf>
  nki.return
}

// All of it; a tensor in HBM has no such limit.
nki.kernel @alloc_size_trn3() target=trn3 {
  %tile = nki.alloc : memref<128x61438xf32, #nki.sbuf>
  %hbm = nki.alloc : memref<128x65536xf32, #nki.shared_hbm>
  nki.return
}

// 16 KiB each, over all free dimensions.
nki.kernel @alloc_size_psum() target=trn3 {
  %words = nki.alloc : memref<128x4096xf32, #nki.psum>
  %halves = nki.alloc : memref<128x2x4096xbf16, #nki.psum>
  %bytes = nki.alloc : memref<128x16384xi8, #nki.psum>
  nki.return
}

// 64 from partition 64 on, 128 from partition 0 on.
nki.kernel @alloc_address_partition() target=trn3 {
  %half = nki.alloc address=[64, 0] : memref<64x64xf32, #nki.sbuf>
  %whole = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.psum>
  nki.return
}

// It ends where the partition ends.
nki.kernel @alloc_address_byte() target=trn3 {
  %near = nki.alloc address=[0, 245496] : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc address=[0, 14336] : memref<128x512xf32, #nki.psum>
  nki.return
}

// A bank's first byte; in SBUF any byte.
nki.kernel @alloc_address_bank() target=trn3 {
  %tile = nki.alloc address=[0, 6144] : memref<128x64xf32, #nki.psum>
  %other = nki.alloc address=[0, 7168] : memref<128x64xf32, #nki.sbuf>
  nki.return
}

// Without an address.
nki.kernel @alloc_address_hbm() target=trn3 {
  %tensor = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nki.return
}

// A run of partitions; or one, or any step where there are no partitions.
nki.kernel @view_partition_step() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %hbm = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %every_other = nki.view %hbm offset=0 pattern=[[128, 64], [1, 64]]
  %repeated = nki.view %tile offset=0 pattern=[[0, 1], [1, 64]]
  %backwards = nki.view %tile offset=0 pattern=[[64, 128], [1, 64]]
  nki.return
}

nki.kernel @index_tile(%x: memref<64x8xf32, #nki.private_hbm>, %hbm: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %float = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %psum = nki.alloc : memref<1x1xui32, #nki.sbuf>
  %two = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %row = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %by_float = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%float scale=8 bound=49
  %in_psum = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%psum scale=8 bound=49
  %in_hbm = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%psum scale=8 bound=49
  %by_two = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%two scale=8 bound=49
  %too_few = nki.view %x offset=0 pattern=[[8, 5], [1, 8]] vector=%rows scale=8 bound=64
  %in_a_row = nki.view %x offset=0 pattern=[[8, 8], [1, 8]] vector=%row scale=8 bound=64
  %partitions = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%rows scale=1 bound=8 count=4
  nki.return
}

nki.kernel @indirect_base(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %on_chip = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  %in_hbm = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%rows scale=1 bound=8 count=4
  nki.return
}

nki.kernel @indirect_base_trn2() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nki.return
}

nki.kernel @indirect_operand(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%view
  nisa.tensor_copy dst=%view, src=%out
  nki.return
}

nki.kernel @indirect_partition() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc address=[0, 1024] : memref<16x4xf32, #nki.sbuf>
  %off = nki.alloc address=[0, 2048] : memref<16x1xi32, #nki.sbuf>
  %next = nki.alloc address=[0, 2052] : memref<16x1xi32, #nki.sbuf>
  %by_off = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%off scale=1 bound=8 count=4
  %by_next = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%next scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%by_off
  nisa.tensor_copy dst=%out, src=%by_next
  nisa.tensor_copy dst=%by_next, src=%out
  nki.return
}

nki.kernel @indirect_partition_of_indices() target=trn3 {
  %psum = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.psum>
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %first = nki.alloc address=[0, 2052] : memref<16x1xi32, #nki.sbuf>
  %second = nki.alloc address=[0, 2048] : memref<16x1xi32, #nki.sbuf>
  %gathered = nki.view %psum offset=0 pattern=[[8, 16], [1, 8]] tensor=%first scale=1 bound=8 count=4
  %scattered = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%second scale=1 bound=8 count=4
  nisa.tensor_copy dst=%scattered, src=%gathered
  nki.return
}

nki.kernel @indirect_count() target=trn3 {
  %tile = nki.alloc : memref<18x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<18x6xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<18x3xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 18], [1, 8]] tensor=%numbers scale=1 bound=8 count=6
  nisa.tensor_copy dst=%out, src=%view
  nki.return
}

nki.kernel @pattern_bounds_on_chip() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %halves = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %rows = nki.alloc : memref<96x64xf32, #nki.psum>
  %behind = nki.view %tile offset=32 pattern=[[64, 127], [1, 32]]
  %before = nki.view %tile offset=1 pattern=[[64, 128], [-1, 2]]
  %earlier = nki.view %tile offset=0 pattern=[[64, 128], [1, 64]]
  %words = nki.view %halves offset=0 pattern=[[32, 128], [1, 32]] as f32
  %below = nki.view %rows offset=4096 pattern=[[64, 32], [1, 64]]
  nki.return
}

nki.kernel @pattern_bounds_hbm(%x: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
  %behind = nki.view %x offset=32 pattern=[[64, 63], [1, 64]]
  %before = nki.view %x offset=0 pattern=[[1, 4096]]
  nki.return
}
