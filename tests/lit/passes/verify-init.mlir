// RUN: not nkijit-opt -p verify-init %s 2>&1 | filecheck --match-full-lines %s

// verify-init follows what has been written of every tensor along a kernel. It reports what is read,
// and what is returned, where something is certainly missing, and nothing else.

// -------------------- whole tiles

// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
// CHECK-NEXT: = in: nisa.tensor_copy dst=%b, src=%a
nki.kernel @whole() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
nki.kernel @whole_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// An instruction reads before it writes. What has been told is not told again.
// CHECK: error[read-unwritten]: nisa.reciprocal: 'data' is read, but nothing has written it
nki.kernel @in_place() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%a, data=%a
  nisa.reciprocal dst=%a, data=%a
  nki.return
}

// Operands of every kind are read: an accumulation, a predicate, a tensor that is printed.
// CHECK: error[read-unwritten]: nki.device_print: 'tensor' is read, but nothing has written it
nki.kernel @printed() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nki.device_print "a", %a
  nki.return
}
nki.kernel @printed_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nki.device_print "a", %a
  nki.return
}

// Arguments and constants hold data from the start.
nki.kernel @given_right(%x: memref<2x4xf32, #nki.private_hbm>) target=trn3 {
  %c = nki.constant "0000803F0000C07F000080FF00000080" : memref<1x4xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<2x4xf32, #nki.sbuf>
  %row = nki.view %a offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%row, src=%c
  nki.return %x
}

// -------------------- parts

// Half of the columns is missing.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written its elements [0:128, 32:64]
nki.kernel @columns() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// Both halves make a whole, and the half that is written may be read.
nki.kernel @columns_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %there = nki.view %b offset=0 pattern=[[64, 128], [1, 32]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%there, src=%left
  nisa.memset dst=%right, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// The region is counted in elements of the tile that is read, not of the allocation.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written its elements [0:4, 2:4]
nki.kernel @of_the_view() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %middle = nki.view %a offset=670 pattern=[[64, 4], [1, 4]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%middle
  nki.return
}

// Every other column: 4096 of the 128 x 63 elements between the first and the last that is missing.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written 4096 of its elements [0:128, 1:64]
nki.kernel @even_columns() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %even = nki.view %a offset=0 pattern=[[64, 128], [2, 32]]
  nisa.memset dst=%even, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// The same columns through a view that runs backwards, and the odd ones besides.
nki.kernel @even_columns_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %there = nki.view %b offset=0 pattern=[[64, 128], [1, 32]]
  %even = nki.view %a offset=0 pattern=[[64, 128], [2, 32]]
  %back = nki.view %a offset=62 pattern=[[64, 128], [-2, 32]]
  %odd = nki.view %a offset=63 pattern=[[64, 128], [-2, 32]]
  nisa.memset dst=%even, value=0
  nisa.tensor_copy dst=%there, src=%back
  nisa.memset dst=%odd, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A view that runs backwards counts its own way.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written its elements [0:128, 0:32]
nki.kernel @backwards() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %back = nki.view %a offset=63 pattern=[[64, 128], [-1, 64]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%back
  nki.return
}

// Dimensions in another order.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written its elements [3:4, 0:2]
nki.kernel @permuted(%x: memref<2x3xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<2x4xf32, #nki.private_hbm>
  %b = nki.alloc : memref<4x2xf32, #nki.private_hbm>
  %left = nki.view %a offset=0 pattern=[[4, 2], [1, 3]]
  %turned = nki.view %a offset=0 pattern=[[1, 4], [4, 2]]
  nisa.dma_copy dst=%left, src=%x
  nisa.dma_copy dst=%b, src=%turned
  nki.return
}
nki.kernel @permuted_right(%x: memref<2x3xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<2x4xf32, #nki.private_hbm>
  %b = nki.alloc : memref<3x2xf32, #nki.private_hbm>
  %left = nki.view %a offset=0 pattern=[[4, 2], [1, 3]]
  %turned = nki.view %a offset=0 pattern=[[1, 3], [4, 2]]
  nisa.dma_copy dst=%left, src=%x
  nisa.dma_copy dst=%b, src=%turned
  nki.return
}

// Another data type: the upper half of every element is missing, so every element is.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written its elements [0:128, 0:8]
nki.kernel @halves() target=trn3 {
  %a = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %low = nki.view %a offset=0 pattern=[[16, 128], [2, 8]] as i16
  nisa.memset dst=%low, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
nki.kernel @halves_right() target=trn3 {
  %a = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %low = nki.view %a offset=0 pattern=[[16, 128], [2, 8]] as i16
  %high = nki.view %a offset=1 pattern=[[16, 128], [2, 8]] as i16
  nisa.memset dst=%low, value=0
  nisa.memset dst=%high, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// -------------------- results

// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written it
nki.kernel @result() target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return %out
}

// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written its elements [1:2, 0:4]
nki.kernel @result_in_part(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%row, src=%x
  nki.return %out
}
// What is neither read nor returned need not be written.
nki.kernel @result_right(%x: memref<2x4xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %other = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// Above 64 MiB it is not said which elements are missing.
// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written parts of it
nki.kernel @huge(%x: memref<1x100000xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<100000x100000xf32, #nki.shared_hbm>
  %row = nki.view %out offset=0 pattern=[[100000, 1], [1, 100000]]
  nisa.dma_copy dst=%row, src=%x
  nki.return %out
}

// -------------------- loops

// The rows that a loop goes over: 0, 2, 4.
// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written 12 of its elements [1:6, 0:4]
nki.kernel @rows(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %out = nki.alloc : memref<6x4xf32, #nki.shared_hbm>
  scf.for %i = %c0 to %c6 step %c2 : i32 {
    %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=6
    nisa.dma_copy dst=%row, src=%x
  }
  nki.return %out
}
// All rows, each read behind its write.
nki.kernel @rows_right(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  %out = nki.alloc : memref<6x4xf32, #nki.shared_hbm>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=6
    nisa.dma_copy dst=%row, src=%x
    nisa.dma_copy dst=%a, src=%row
  }
  nki.return %out
}

// Nothing is there in the first iteration, though there will be in the second.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @first_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.tensor_copy dst=%b, src=%a
    nisa.memset dst=%a, value=0
  }
  nki.return
}
nki.kernel @first_iteration_right() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.memset dst=%a, value=0
    nisa.tensor_copy dst=%b, src=%a
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A loop that never runs writes nothing ...
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @never() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c0 step %c1 : i32 {
    nisa.memset dst=%a, value=0
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// ... one that may run may have written. What a body writes is there in the body.
nki.kernel @perhaps_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %n = nki.read %r
  scf.for %i = %c0 to %n step %c1 : i32 {
    nisa.memset dst=%a, value=0
    nisa.tensor_copy dst=%b, src=%a
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A loop on a condition may run no time at all. What stands in its body has to be right nevertheless.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @condition(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  scf.while () : () -> () {
    %n = nki.read %r
    %more = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.tensor_copy dst=%b, src=%a
    nisa.register_load dst=%r, src=%x
    scf.yield
  }
  nki.return
}
nki.kernel @condition_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  scf.while () : () -> () {
    %n = nki.read %r
    %more = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.memset dst=%a, value=0
    nisa.register_load dst=%r, src=%x
    scf.yield
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// -------------------- addresses known at run time

// A row that a register picks is read, and nothing has written any row.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written any of it
nki.kernel @register(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %part = nki.view %a offset=0 pattern=[[64, 1], [1, 4]] scalar=%r scale=4 bound=16
  nisa.tensor_copy dst=%b, src=%part
  nki.return
}
// Some columns may be the ones that are written, wherever they are.
nki.kernel @register_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %part = nki.view %a offset=0 pattern=[[64, 1], [1, 4]] scalar=%r scale=4 bound=16
  %first = nki.view %a offset=0 pattern=[[64, 1], [1, 4]]
  nisa.memset dst=%part, value=0
  nisa.tensor_copy dst=%b, src=%first
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// The index itself is read.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'index of src' is read, but nothing has written it
nki.kernel @index(%x: memref<16x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %b = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=16
  nisa.dma_copy dst=%b, src=%rows
  nki.return
}
nki.kernel @index_right(%x: memref<16x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %b = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=16
  nisa.memset dst=%i, value=0
  nisa.dma_copy dst=%b, src=%rows
  nki.return
}

// -------------------- writes that may leave something out

// What an instruction writes in part may have been written ...
nki.kernel @partial_right() target=trn3 {
  %a = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<32x64xui8, #nki.sbuf>
  nisa.memset dst=%src, value=0
  nisa.memset dst=%mask, value=1
  nisa.tensor_copy_predicated dst=%a, src=%src, predicate=%mask
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// ... but the rest of the tile has not.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written its elements [0:32, 32:64]
nki.kernel @partial() target=trn3 {
  %a = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %mask = nki.alloc : memref<32x32xui8, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 32], [1, 32]]
  nisa.memset dst=%src, value=0
  nisa.memset dst=%mask, value=1
  nisa.tensor_copy_predicated dst=%left, src=%src, predicate=%mask
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// The values of a topk are not in all of its tile.
nki.kernel @topk_right() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %b = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  nisa.memset dst=%src, value=0
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.tensor_copy dst=%b, src=%val
  nki.return
}

// An index out of bounds that is skipped writes nothing.
nki.kernel @skip_right(%x: memref<8x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %out = nki.alloc : memref<8x4xf32, #nki.shared_hbm>
  %rows = nki.view %out offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=8
  nisa.memset dst=%i, value=0
  nisa.dma_copy dst=%rows, src=%x, oob_mode=skip
  nki.return %out
}

// -------------------- two cores

// Each core writes half of a shared tensor. One reads the other half behind a barrier.
nki.kernel @halves_of_cores_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %first = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  %second = nki.view %out offset=4 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%first, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%t, src=%second
  nki.return %out
}
nki.kernel @halves_of_cores_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %second = nki.view %out offset=4 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%second, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}

// Before the barrier the other core has not written yet: it does so behind it.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written it
nki.kernel @too_early_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  nisa.dma_copy dst=%t, src=%out
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}
nki.kernel @too_early_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// Without a barrier it may have been in time; that is a race, not a tensor that nobody writes.
nki.kernel @race_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  nisa.dma_copy dst=%t, src=%out
  nki.return %out
}
nki.kernel @race_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// One core meets the other in a loop, the other in a row of barriers.
nki.kernel @barriers_in_a_loop_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    nisa.core_barrier data=%out, cores=[0, 1]
  }
  nisa.dma_copy dst=%t, src=%out
  nki.return %out
}
nki.kernel @barriers_in_a_loop_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}

// Half of the result is written by neither core. What is private is a core's own.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written it
// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written its elements [1:2, 0:4]
nki.kernel @neither_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %mine = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  nisa.dma_copy dst=%mine, src=%x
  nki.return %out
}
nki.kernel @neither_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %mine = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  %first = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%first, src=%mine
  nki.return %out
}

// CHECK: 22 errors
