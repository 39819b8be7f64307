// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Allocations and views: what the rules forbid. A kernel here breaks one rule, for one operand
// or argument after the other; where it cannot break one alone, its comment says so. The kernel
// of the same name in valid.mlir differs in that one thing and is silent.

// A tile on chip has more than 128 partitions.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 129
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %sbuf = nki.alloc : memref<129x64xf32, #nki.sbuf>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %sbuf, sbuf 129x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: loop over tiles of at most nl.tile_size.pmax rows, or make rows of a part of the free dimension
// CHECK: error[alloc-partitions]: nki.alloc: a tile in psum has at most 128 partitions, this one has 256
nki.kernel @alloc_partitions() target=trn3 {
  %sbuf = nki.alloc : memref<129x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<256x64xf32, #nki.psum>
  %hbm = nki.alloc : memref<4096x64xf32, #nki.private_hbm>
  nki.return
}

// One column more than a partition of SBUF holds on trn1.
// CHECK: error[alloc-size]: nki.alloc: a partition of sbuf holds 180224 bytes on trn1, this tile needs 180228
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %tile = nki.alloc : memref<128x45057xf32, #nki.sbuf>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %tile, sbuf 128x45057 float32, allocated at {{.*}}
// CHECK-NEXT: = help: split the free dimension into tiles that fit, and loop over them
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
// CHECK: error[alloc-address]: nki.alloc: at address (65, 0) the tile reaches partition 129 of 128
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %half = nki.alloc address=[65, 0] : memref<64x64xf32, #nki.sbuf>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %half, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write address=(64, 0) or a smaller partition
// CHECK: error[alloc-address]: nki.alloc: at address (1, 0) the tile reaches partition 129 of 128
nki.kernel @alloc_address_partition() target=trn3 {
  %half = nki.alloc address=[65, 0] : memref<64x64xf32, #nki.sbuf>
  %whole = nki.alloc address=[1, 0] : memref<128x64xf32, #nki.psum>
  nki.return
}

// A tile of 256 bytes starts one byte too late in SBUF; one in PSUM has an element too many.
// CHECK: error[address-capacity]: nki.alloc: at address (0, 245497) the tile reaches byte 245753 of 245752
// CHECK: error[address-capacity]: nki.alloc: at address (0, 14336) the tile reaches byte 16388 of 16384
nki.kernel @alloc_address_byte() target=trn3 {
  %near = nki.alloc address=[0, 245497] : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc address=[0, 14336] : memref<128x513xf32, #nki.psum>
  nki.return
}

// A tile in PSUM starts inside a bank.
// CHECK: error[psum-address]: nki.alloc: the tile is at byte 1024 of PSUM bank 3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %tile = nki.alloc address=[0, 7168] : memref<128x64xf32, #nki.psum>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %tile, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: begin at a bank, e.g. address=(0, 6144); a bank has 2048 bytes (nl.tile_size.psum_bank_fmax_bytes)
nki.kernel @alloc_address_bank() target=trn3 {
  %tile = nki.alloc address=[0, 7168] : memref<128x64xf32, #nki.psum>
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
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %every_other = nki.view %tile offset=0 pattern=[[128, 64], [1, 64]]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %every_other, sbuf 64x64 float32, a view of %tile (sbuf 128x64 float32), allocated at {{.*}}
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


// An index of the wrong kind, in the wrong place, with too few elements.
// CHECK: error[index-tile]: nki.view: 'index' must be int32 or uint32, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %by_float = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%float scale=8 bound=49
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = index: %float, sbuf 1x1 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate float as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
// CHECK: error[index-tile]: nki.view: 'index' must be in sbuf, it is in psum
// CHECK: error[index-tile]: nki.view: 'index' must be in sbuf, it is in private_hbm
// CHECK: error[index-tile]: nki.view: 'index' must have one element, it has 2
// CHECK: error[index-tile]: nki.view: dim 0 of the view needs 5 indices, there are 4
// CHECK: error[index-tile]: nki.view: the 8 indices go down the partitions, the index has 1
// CHECK: error[index-tile]: nki.view: the tile has 16 partitions, the index 4
nki.kernel @index_tile(%x: memref<64x8xf32, #nki.private_hbm>, %hbm: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %float = nki.alloc : memref<1x1xf32, #nki.sbuf>
  %psum = nki.alloc : memref<1x1xi32, #nki.psum>
  %two = nki.alloc : memref<1x2xi32, #nki.sbuf>
  %rows = nki.alloc : memref<4x1xi32, #nki.sbuf>
  %row = nki.alloc : memref<1x8xi32, #nki.sbuf>
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %by_float = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%float scale=8 bound=49
  %in_psum = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%psum scale=8 bound=49
  %in_hbm = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%hbm scale=8 bound=49
  %by_two = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%two scale=8 bound=49
  %too_few = nki.view %x offset=0 pattern=[[8, 5], [1, 8]] vector=%rows scale=8 bound=64
  %in_a_row = nki.view %x offset=0 pattern=[[8, 8], [1, 8]] vector=%row scale=8 bound=64
  %partitions = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%rows scale=1 bound=8 count=4
  nki.return
}

// A vector of indices on chip, tensor indirection in HBM.
// CHECK: error[indirect-base]: nki.view: a vector of indices addresses HBM, not sbuf
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %on_chip = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=16
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %on_chip, sbuf 16x8 float32, a view of %tile (sbuf 16x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: gather from HBM with vector_offset, from SBUF with nisa.nc_n_gather
// CHECK: error[indirect-base]: nki.view: tensor indirection addresses SBUF and PSUM, not private_hbm
nki.kernel @indirect_base(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %on_chip = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=16
  %in_hbm = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] tensor=%rows scale=1 bound=8 count=4
  nki.return
}

// Tensor indirection on trn2.
// CHECK: error[indirect-base]: nki.view: tensor indirection needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %view, sbuf 16x4 float32, a view of %tile (sbuf 16x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: gather from HBM with vector_offset, from SBUF with nisa.nc_n_gather
nki.kernel @indirect_base_trn2() target=trn2 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nki.return
}

// Operands that take no vector of indices, or no tensor indirection.
// CHECK: error[indirect-operand]: nisa.dma_copy: 'src' is addressed with .indirect(), which it does not take
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%view
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %view, sbuf 16x4 float32, a view of %tile (sbuf 16x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: gather into a tile first, with nisa.tensor_copy for .indirect() and nisa.dma_copy for vector_offset=, and pass that tile
// CHECK: error[indirect-operand]: nisa.dma_copy: 'dst' is addressed with .indirect(), which it does not take
nki.kernel @indirect_operand(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<16x4xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  nisa.dma_copy dst=%out, src=%view
  nisa.dma_copy dst=%view, src=%out
  nki.return
}

// The index does not start on a quadrant, or not where the tile starts.
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'src' starts at partition 16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%out, src=%by_off
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %by_off, sbuf 16x4 float32, a view of %tile (sbuf 16x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: let the tile and its index start at partition 0, 32, 64 or 96 together
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'src' starts at partition 32, 'src' at 0
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'dst' starts at partition 32, 'src' at 0
nki.kernel @indirect_partition() target=trn3 {
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %out = nki.alloc address=[0, 1024] : memref<16x4xf32, #nki.sbuf>
  %off = nki.alloc address=[16, 2048] : memref<16x1xi32, #nki.sbuf>
  %next = nki.alloc address=[32, 2048] : memref<16x1xi32, #nki.sbuf>
  %by_off = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%off scale=1 bound=8 count=4
  %by_next = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%next scale=1 bound=8 count=4
  nisa.tensor_copy dst=%out, src=%by_off
  nisa.tensor_copy dst=%out, src=%by_next
  nisa.tensor_copy dst=%by_next, src=%out
  nki.return
}

// What is gathered from PSUM and scattered: the two indices start on one partition.
// CHECK: error[indirect-partition]: nisa.tensor_copy: the index of 'dst' starts at partition 0, 'src' at 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%scattered, src=%gathered
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %scattered, sbuf 16x4 float32, a view of %tile (sbuf 16x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: let the tile and its index start at partition 0, 32, 64 or 96 together
nki.kernel @indirect_partition_of_indices() target=trn3 {
  %psum = nki.alloc address=[32, 0] : memref<16x8xf32, #nki.psum>
  %tile = nki.alloc address=[0, 0] : memref<16x8xf32, #nki.sbuf>
  %first = nki.alloc address=[32, 2048] : memref<16x1xi32, #nki.sbuf>
  %second = nki.alloc address=[0, 2048] : memref<16x1xi32, #nki.sbuf>
  %gathered = nki.view %psum offset=0 pattern=[[8, 16], [1, 8]] tensor=%first scale=1 bound=8 count=4
  %scattered = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%second scale=1 bound=8 count=4
  nisa.tensor_copy dst=%scattered, src=%gathered
  nki.return
}

// More numbers than the last group of partitions has.
// CHECK: error[indirect-count]: nisa.tensor_copy: 'src' has 7 elements per partition, its index holds 6
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%out, src=%view
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %view, sbuf 18x7 float32, a view of %tile (sbuf 18x8 float32), allocated at {{.*}}
// CHECK-NEXT: = help: pass a smaller num_elem, or an index tile with more columns
nki.kernel @indirect_count() target=trn3 {
  %tile = nki.alloc : memref<18x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<18x7xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<18x3xi32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[8, 18], [1, 8]] tensor=%numbers scale=1 bound=8 count=7
  nisa.tensor_copy dst=%out, src=%view
  nki.return
}


// A pattern runs past the end of its partitions, though the tile goes on; begins before them; is
// twice as long in a wider type; and goes on where there are no partitions of the tile any more.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 32 to 64 of partitions of 64 float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %behind = nki.view %tile offset=32 pattern=[[64, 127], [1, 33]]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = result: %behind, sbuf 127x33 float32, a view of %tile (sbuf 128x64 float32), allocated at {{.*}}
// CHECK-NEXT: = help: change the pattern or its offset, or allocate a tensor that has these elements
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements -1 to 0 of partitions of 64 float32
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements -3 to 60 of partitions of 64 float32
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 0 to 63 of partitions of 32 float32
// CHECK: error[pattern-bounds]: nki.view: the pattern touches partitions 64 to 127 of 96
nki.kernel @pattern_bounds_on_chip() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %halves = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %rows = nki.alloc : memref<96x64xf32, #nki.psum>
  %behind = nki.view %tile offset=32 pattern=[[64, 127], [1, 33]]
  %before = nki.view %tile offset=0 pattern=[[64, 128], [-1, 2]]
  %earlier = nki.view %tile offset=-3 pattern=[[64, 128], [1, 64]]
  %words = nki.view %halves offset=0 pattern=[[32, 128], [1, 64]] as f32
  %below = nki.view %rows offset=4096 pattern=[[64, 64], [1, 64]]
  nki.return
}

// In HBM a pattern leaves the tensor as a whole only.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 32 to 4127 of a tensor of 4096 float32
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements -64 to 4031 of a tensor of 4096 float32
nki.kernel @pattern_bounds_hbm(%x: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
  %behind = nki.view %x offset=32 pattern=[[64, 64], [1, 64]]
  %before = nki.view %x offset=-64 pattern=[[1, 4096]]
  nki.return
}
// CHECK: 41 errors
