// RUN: nkijit verify -p lint -p verify-results %s | filecheck %s

// What works and wastes time or memory. All findings are warnings.

nki.kernel @unused(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  // CHECK: warning[unused-tile]: nki.alloc: nothing uses 'spare' (sbuf 128x512 float32)
  %spare = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// CHECK: warning[redundant-fill]: nisa.memset: nothing reads what it writes: about 470 cycles
// CHECK-NEXT: --> {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy
// CHECK-NEXT: | {{-+}} overwritten by nisa.dma_copy
// CHECK-NEXT: = dst: %a, sbuf 128x512 float32, allocated at {{.*}}
// CHECK-NEXT: = help: use the filled tile before it is overwritten, or remove the instruction
nki.kernel @overwritten(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  nisa.memset dst=%a, value=0.0
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// Part of what was set is read; a store through another view; a reduction that is used while the
// elementwise result is not; a value that the next iteration reads.
// CHECK-NOT: {{\[(dead-store|redundant-fill)\]}}
nki.kernel @needed(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[512, 128], [1, 256]]
  %x0 = nki.view %x offset=0 pattern=[[512, 128], [1, 256]]
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  %totals = nki.alloc : memref<128x1xf32, #nki.shared_hbm>
  nisa.memset dst=%a, value=0.0
  nisa.dma_copy dst=%left, src=%x0
  nisa.dma_copy dst=%out, src=%a
  nisa.activation dst=%b, op=exp, data=%a, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.dma_copy dst=%totals, src=%sum
  scf.for %i = %zero to %four step %one : i32 {
    nisa.dma_copy dst=%out, src=%b
    nisa.activation dst=%b, op=exp, data=%a
  }
  nki.return (%out, %totals)
}

// CHECK: warning[redundant-copy]: nisa.tensor_copy: 'dst' holds the same as 'src' as long as it is used: about 316 cycles
nki.kernel @copied(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// The copy is kept while the original is overwritten, or it converts.
// CHECK-NOT: [redundant-copy]
nki.kernel @kept(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  %out2 = nki.alloc : memref<128x512xbf16, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_copy dst=%b, src=%a
  nisa.activation dst=%a, op=exp, data=%a
  nisa.tensor_tensor dst=%b, data1=%a, data2=%b, op=add
  nisa.tensor_copy dst=%c, src=%b
  nisa.dma_copy dst=%out, src=%b
  nisa.dma_copy dst=%out2, src=%c
  nki.return (%out, %out2)
}

// CHECK: warning[small-dma]: nisa.dma_copy: moves 8192 bytes in 128 descriptors of 64 bytes, which takes about 700 cycles more than in long ones
nki.kernel @short_rows(%x: memref<256x16xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %x0 = nki.view %x offset=0 pattern=[[16, 128], [1, 16]]
  nisa.dma_copy dst=%a, src=%x0
  nki.device_print "a", %a
  nki.return
}

// Rows of a tensor that lie apart on chip.
// CHECK: warning[small-dma]: nisa.dma_copy: moves 8192 bytes in 128 descriptors of 64 bytes, which takes about 700 cycles more than in long ones
// CHECK-NEXT: --> {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %b,
// CHECK-NEXT: = src: %a,
nki.kernel @within_the_chip(%x: memref<128x16xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x16xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%a
  nki.device_print "b", %b
  nki.return
}

// All of a tensor, but the tile has gaps: an element is a piece.
// CHECK: warning[small-dma]: nisa.dma_copy: moves 8192 bytes in 2048 descriptors of 4 bytes, which takes about 4313 cycles more than in long ones
nki.kernel @gaps(%x: memref<128x16xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %even = nki.view %a offset=0 pattern=[[32, 128], [2, 16]]
  nisa.dma_copy dst=%even, src=%x
  nki.device_print "even", %even
  nki.return
}

// A column that the transfer repeats, element by element.
// CHECK: warning[small-dma]: nisa.dma_copy: moves 262144 bytes in 65536 descriptors of 4 bytes, which takes about {{[0-9]+}} cycles more than in long ones
// CHECK: = help: 'src' repeats its elements: copy them to a tile of 128x512 first, e.g. with nisa.tensor_copy, or give 'dst' the shape 128x1 if each is needed once
nki.kernel @repeated(%x: memref<128x1xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  %wide = nki.view %a offset=0 pattern=[[1, 128], [0, 512]]
  nisa.dma_copy dst=%y, src=%wide
  nki.return %y
}

// All of a tensor, in as few pieces as there are partitions: nothing else could be moved with it.
// CHECK-NOT: [small-dma]
nki.kernel @all_of_it(%x: memref<128x16xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x16xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%y, src=%a
  nki.return %y
}

// 512 bytes are enough, and so is all there is to move, and a column has no longer rows.
// CHECK-NOT: [small-dma]
nki.kernel @long_rows(%x: memref<128x128xf32, #nki.private_hbm>, %y: memref<1x16xf32, #nki.private_hbm>, %z: memref<128x1xf32, #nki.private_hbm>) target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.dma_copy dst=%column, src=%z
  nki.device_print "column", %column
  %a = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x16xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%y
  nki.device_print "a", %a
  nki.device_print "b", %b
  nki.return
}

// CHECK: warning[few-partitions]: nisa.activation: uses 16 of 128 partitions; laid over all of them it would take about 1792 cycles less
nki.kernel @sixteen(%x: memref<16x2048xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<16x2048xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%a, op=exp, data=%a
  nki.device_print "a", %a
  nki.return
}

// The blocks are in dim 0, and their rows in dim 1.
// CHECK: warning[few-partitions]: nisa.activation: uses 4 of 128 partitions; laid over all of them it would take about {{[0-9]+}} cycles less
// CHECK: = help: dim 0 is the partitions: allocate blocks as (128, 4, 256) and take block i as blocks[:, i], or allocate 4 tiles of (128, 256)
nki.kernel @blocks(%x: memref<4x128x256xf32, #nki.private_hbm>) target=trn3 {
  %blocks = nki.alloc : memref<4x128x256xf32, #nki.sbuf>
  nisa.dma_copy dst=%blocks, src=%x
  nisa.activation dst=%blocks, op=exp, data=%blocks
  nki.device_print "blocks", %blocks
  nki.return
}

// CHECK-NOT: [few-partitions]
nki.kernel @short_or_many(%x: memref<64x2048xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<64x2048xf32, #nki.sbuf>
  %row = nki.view %a offset=0 pattern=[[2048, 1], [1, 128]]
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%a, op=exp, data=%a
  nisa.activation dst=%row, op=exp, data=%row
  nki.device_print "a", %a
  nki.return
}

// The ids are in one partition, and a quadrant is shuffled by itself.
// CHECK-NOT: [few-partitions]
nki.kernel @given_partitions(%x: memref<1x4096xi32, #nki.private_hbm>, %y: memref<32x4096xf32, #nki.private_hbm>) target=trn3 {
  %ids = nki.alloc : memref<1x4096xi32, #nki.sbuf>
  %bounds = nki.alloc : memref<1x2x4096xi32, #nki.sbuf>
  %rows = nki.alloc : memref<32x4096xf32, #nki.sbuf>
  nisa.dma_copy dst=%ids, src=%x
  nisa.sequence_bounds dst=%bounds, segment_ids=%ids
  nki.device_print "bounds", %bounds
  nisa.dma_copy dst=%rows, src=%y
  nisa.nc_stream_shuffle dst=%rows, src=%rows, shuffle_mask=[1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20, 23, 22, 25, 24, 27, 26, 29, 28, 31, 30]
  nki.device_print "rows", %rows
  nki.return
}

// CHECK: warning[slow-mode]: nisa.tensor_copy: 'src' steps by 2 elements, which loses the mode of 4 elements a cycle: about 256 cycles
// CHECK: warning[slow-mode]: nisa.tensor_tensor: 'dst' is float32 and the inputs have 16 bits, which loses the mode of 2 elements a cycle: about 512 cycles
nki.kernel @slow(%x: memref<128x2048xbf16, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x2048xbf16, #nki.sbuf>
  %even = nki.view %a offset=0 pattern=[[2048, 128], [2, 1024]]
  %b = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
  %c = nki.alloc : memref<128x1024xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_copy dst=%b, src=%even
  nisa.tensor_tensor dst=%c, data1=%b, data2=%b, op=add
  nki.device_print "c", %c
  nki.return
}

// On NeuronCore-v2 there is no such mode; float32 has none.
// CHECK-NOT: [slow-mode]
nki.kernel @no_mode(%x: memref<128x2048xbf16, #nki.private_hbm>) target=trn1 {
  %a = nki.alloc : memref<128x2048xbf16, #nki.sbuf>
  %even = nki.view %a offset=0 pattern=[[2048, 128], [2, 1024]]
  %b = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_copy dst=%b, src=%even
  nki.device_print "b", %b
  nki.return
}
nki.kernel @no_mode_either(%x: memref<128x2048xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %even = nki.view %a offset=0 pattern=[[2048, 128], [2, 1024]]
  %b = nki.alloc : memref<128x1024xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_copy dst=%b, src=%even
  nki.device_print "b", %b
  nki.return
}

// The table of exp gives way to that of silu, and comes back.
// CHECK: warning[table-reload]: nisa.activation: loads the table of nl.exp again, which the table of nl.silu has replaced: about 1536 cycles
// CHECK-NEXT: --> {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%a, op=exp, data=%a
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%a, op=silu, data=%a
// CHECK-NEXT: | {{-+}} loads the table of nl.silu
nki.kernel @in_turn(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%a, op=exp, data=%a
  nisa.activation dst=%a, op=silu, data=%a
  nisa.activation dst=%a, op=exp, data=%a
  nki.device_print "a", %a
  nki.return
}

// Copies use the table of square, which is also its name in listings.
// CHECK: warning[table-reload]: nisa.activation: loads the table of nl.square for nl.copy again, which the table of nl.tanh has replaced: about 1536 cycles
// CHECK: | {{-+}} loads the table of nl.tanh
nki.kernel @copies(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%a, op=rsqrt, data=%a
  nisa.activation dst=%a, op=tanh, data=%a
  nisa.activation dst=%a, op=copy, data=%a
  nki.device_print "a", %a
  nki.return
}

// One after the other, and two functions of one table.
// CHECK-NOT: [table-reload]
nki.kernel @grouped(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%a, op=exp, data=%a
  nisa.activation dst=%a, op=exp, data=%a
  nisa.activation dst=%a, op=square, data=%a
  nisa.activation dst=%a, op=rsqrt, data=%a
  nisa.activation dst=%a, op=square, data=%a
  nki.device_print "a", %a
  nki.return
}

// Each iteration of a loop on the device loads the same.
// CHECK: warning[repeated-load]: nisa.dma_copy: brings 262144 bytes that SBUF has held before
// CHECK-NEXT: --> {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy
// CHECK-NEXT: | {{\^+}}
nki.kernel @loaded_by_each_iteration(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  scf.for %i = %zero to %four step %one : i32 {
    nisa.dma_copy dst=%a, src=%x
    nki.device_print "a", %a
  }
  nki.return
}

// The same bytes into another tile; and once more after they have been written, which is no repeat.
// CHECK: warning[repeated-load]: nisa.dma_copy: brings 262144 bytes that SBUF has held before
// CHECK-NEXT: --> {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%b, src=%x
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}lint.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%a, src=%x
// CHECK-NEXT: | {{-+}} loaded here before
// CHECK-NEXT: = dst: %b, sbuf 128x512 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %x, private_hbm 128x512 float32, an argument of the kernel
// CHECK-NOT: [repeated-load]
nki.kernel @loaded_again(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%x
  nisa.tensor_tensor dst=%c, data1=%a, data2=%b, op=add
  nisa.dma_copy dst=%x, src=%c
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_tensor dst=%c, data1=%a, data2=%b, op=add
  nisa.dma_copy dst=%out, src=%c
  nki.return %out
}

// All of it together takes more than a quarter of SBUF.
// CHECK-NOT: [repeated-load]
nki.kernel @no_room(%x: memref<128x16384xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x16384xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%x
  nki.device_print "a", %a
  nki.device_print "b", %b
  nki.return
}

// Both inputs were bfloat16, one cast by a DMA and one on chip; then only one of them.
// CHECK: warning[widened-matmul]: nisa.nc_matmul: multiplies what came in as bfloat16 as float32, in 4 passes: about {{[0-9]+}} cycles
// CHECK-NOT: [widened-matmul]
nki.kernel @cast_up(%x: memref<128x128xbf16, #nki.private_hbm>, %y: memref<128x512xbf16, #nki.private_hbm>, %z: memref<128x512xf32, #nki.private_hbm>) target=trn2 {
  %left = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %right = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %wide = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %product = nki.alloc : memref<128x512xf32, #nki.psum>
  nisa.dma_copy dst=%left, src=%x
  nisa.dma_copy dst=%narrow, src=%y
  nisa.tensor_copy dst=%right, src=%narrow
  nisa.nc_matmul dst=%product, stationary=%left, moving=%right, accumulate=false
  nki.device_print "product", %product
  nisa.dma_copy dst=%wide, src=%z
  nisa.nc_matmul dst=%product, stationary=%left, moving=%wide, accumulate=false
  nki.device_print "product", %product
  nki.return
}

// A long row for all partitions; a short one is not worth a word.
// CHECK: warning[broadcast-load]: nisa.dma_copy: reads 16384 bytes for each of 128 partitions, which takes the DMA engines about {{[0-9]+}} cycles more than reading them once
// CHECK-NOT: [broadcast-load]
nki.kernel @spread(%x: memref<4096xf32, #nki.private_hbm>) target=trn2 {
  %a = nki.alloc : memref<128x4096xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x256xf32, #nki.sbuf>
  %long = nki.view %x offset=0 pattern=[[0, 128], [1, 4096]]
  %short = nki.view %x offset=0 pattern=[[0, 128], [1, 256]]
  nisa.dma_copy dst=%a, src=%long
  nisa.dma_copy dst=%b, src=%short
  nki.device_print "a", %a
  nki.device_print "b", %b
  nki.return
}
