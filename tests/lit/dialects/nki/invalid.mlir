// RUN: not nkijit verify %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Allocations and views: what the rules forbid. A kernel here breaks one rule, for one operand
// or argument after the other; where it cannot break one alone, its comment says so. The kernel
// of the same name in valid.mlir differs in that one thing and is silent.

// A tile on chip has more than 128 partitions.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 129
// CHECK-NEXT: = in: %sbuf = nki.alloc : memref<129x64xf32, #nki.sbuf>
// CHECK-NEXT: = result: %sbuf, sbuf 129x64 float32
// CHECK-NEXT: = help: split the tensor into tiles of at most nl.tile_size.pmax rows
// CHECK: error[alloc-partitions]: nki.alloc: a tile in psum has at most 128 partitions, this one has 256
nki.kernel @alloc_partitions() target=trn3 {
  %sbuf = nki.alloc : memref<129x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<256x64xf32, #nki.psum>
  %hbm = nki.alloc : memref<4096x64xf32, #nki.private_hbm>
  nki.return
}

// One column more than a partition of SBUF holds on trn1.
// CHECK: error[alloc-size]: nki.alloc: a partition of sbuf holds 180224 bytes on trn1, this tile needs 180228
// CHECK-NEXT: = in: %tile = nki.alloc : memref<128x45057xf32, #nki.sbuf>
// CHECK-NEXT: = result: %tile, sbuf 128x45057 float32
// CHECK-NEXT: = help: split the free dimension into smaller tiles
nki.kernel @alloc_size_trn1() target=trn1 {
  %tile = nki.alloc : memref<128x45057xf32, #nki.sbuf>
  nki.return
}

// One column more than a partition of SBUF holds on trn2.
// CHECK: error[alloc-size]: nki.alloc: a partition of sbuf holds 212984 bytes on trn2, this tile needs 212988
nki.kernel @alloc_size_trn2() target=trn2 {
  %tile = nki.alloc : memref<128x53247xf32, #nki.sbuf>
  nki.return
}

// One column more than a partition of SBUF holds on trn3.
// CHECK: error[alloc-size]: nki.alloc: a partition of sbuf holds 245752 bytes on trn3, this tile needs 245756
nki.kernel @alloc_size_trn3() target=trn3 {
  %tile = nki.alloc : memref<128x61439xf32, #nki.sbuf>
  %hbm = nki.alloc : memref<128x65536xf32, #nki.shared_hbm>
  nki.return
}

// A tile is larger than a partition of PSUM; the data type decides how many elements that are.
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16388
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16388
// CHECK: error[alloc-size]: nki.alloc: a partition of psum holds 16384 bytes on trn3, this tile needs 16385
nki.kernel @alloc_size_psum() target=trn3 {
  %words = nki.alloc : memref<128x4097xf32, #nki.psum>
  %halves = nki.alloc : memref<128x2x4097xbf16, #nki.psum>
  %bytes = nki.alloc : memref<128x16385xi8, #nki.psum>
  nki.return
}

// From partition 65 on, 64 partitions reach beyond the last; and so do 128 from partition 1 on.
// CHECK: error[alloc-address]: nki.alloc: at address (65, 0) the tile reaches partition 129 of 128 and byte 256 of 245752
// CHECK-NEXT: = in: %half = nki.alloc address=[65, 0] : memref<64x64xf32, #nki.sbuf>
// CHECK-NEXT: = result: %half, sbuf 64x64 float32
// CHECK-NEXT: = help: choose a (partition, byte) address that leaves room for the tile, or leave address= out
// CHECK: error[alloc-address]: nki.alloc: at address (1, 0) the tile reaches partition 129 of 128 and byte 256 of 16384
nki.kernel @alloc_address_partition() target=trn3 {
  %half = nki.alloc address=[65, 0] : memref<64x64xf32, #nki.sbuf>
  %whole = nki.alloc address=[1, 0] : memref<128x64xf32, #nki.psum>
  nki.return
}

// A tile of 256 bytes starts one byte too late, in SBUF and in PSUM.
// CHECK: error[alloc-address]: nki.alloc: at address (0, 245497) the tile reaches partition 128 of 128 and byte 245753 of 245752
// CHECK: error[alloc-address]: nki.alloc: at address (0, 16129) the tile reaches partition 128 of 128 and byte 16385 of 16384
nki.kernel @alloc_address_byte() target=trn3 {
  %near = nki.alloc address=[0, 245497] : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc address=[0, 16129] : memref<128x64xf32, #nki.psum>
  nki.return
}

// A tensor in HBM has no partition to be fixed to.
// CHECK: error[alloc-address]: nki.alloc: a tensor in private_hbm has no fixed address
nki.kernel @alloc_address_hbm() target=trn3 {
  %tensor = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.private_hbm>
  nki.return
}

// A view takes every other partition, the same one again and again, or runs backwards.
// CHECK: error[partition-step]: nki.view: the partition dimension of the view has a step of 2
// CHECK-NEXT: = in: %every_other = nki.view %tile offset=0 pattern=[[128, 64], [1, 64]]
// CHECK-NEXT: = result: %every_other, sbuf 64x64 float32, a view of %tile (sbuf 128x64 float32)
// CHECK-NEXT: = help: slice a run of partitions, or move rows with nisa.dma_copy to and from HBM
// CHECK: error[partition-step]: nki.view: the partition dimension of the view has a step of 0
// CHECK: error[partition-step]: nki.view: the partition dimension of the view has a step of -1
nki.kernel @view_partition_step() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %hbm = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %every_other = nki.view %tile offset=0 pattern=[[128, 64], [1, 64]]
  %repeated = nki.view %tile offset=0 pattern=[[0, 64], [1, 64]]
  %backwards = nki.view %tile offset=8128 pattern=[[-64, 128], [1, 64]]
  nki.return
}

// CHECK: 16 errors
