// RUN: nkijit verify %s | filecheck --match-full-lines %s

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
  %far = nki.alloc address=[0, 16128] : memref<128x64xf32, #nki.psum>
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
