// RUN: not nkijit-opt -p verify-indices %s 2>&1 | filecheck %s
// RUN: not nkijit-opt -p verify-access %s 2>&1 | filecheck %s

// Indices that are computed on the device and are out of bounds for certain.

// The last iteration is in bounds; so is what is skipped, a loop that never runs, and what nobody
// knows: a number from memory, a bound from memory, a register that holds one of several numbers.
// CHECK-NOT: dst=%fine
nki.kernel @legal(%x: memref<8x4xf32, #nki.shared_hbm>, %n: memref<1xi32, #nki.shared_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %r = nki.register
  %s = nki.register
  %fine = nki.alloc : memref<1x4xf32, #nki.sbuf>
  nisa.register_move dst=%s, src=%c0
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%fine, src=%row
    scf.yield
  }
  scf.for %i = %c1 to %c9 step %c2 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%fine, src=%row
    scf.yield
  }
  scf.for %i = %c0 to %c9 step %c1 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%fine, src=%row, oob_mode=skip
    scf.yield
  }
  scf.for %i = %c9 to %c9 step %c1 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%fine, src=%row
    nisa.register_move dst=%s, src=%c9
    scf.yield
  }
  nisa.register_load dst=%r, src=%n
  %count = nki.read %r
  scf.for %i = %c0 to %count step %c1 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%fine, src=%row
    nisa.register_move dst=%s, src=%c9
    scf.yield
  }
  %by_r = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%r scale=4 bound=8
  %by_s = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%s scale=4 bound=8
  nisa.dma_copy dst=%fine, src=%by_r
  nisa.dma_copy dst=%fine, src=%by_s
  nki.return
}

// One iteration too many.
// CHECK: error[index-bounds]: nisa.dma_copy: the index of 'src' goes from 0 to 8, legal are 0 to 7
// CHECK-NEXT: --> {{.*}}verify-indices.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%t, src=%row
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-indices.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | scf.for %i = %c0 to %c9 step %c1 : i32 {
// CHECK-NEXT: | {{-+}} the index counts here
// CHECK-NEXT: = src: %row, shared_hbm 1x4 float32, a view of %x (shared_hbm 8x4 float32), an argument of the kernel
// CHECK-NEXT: = help: change the bounds of the loop or the tensor's size, or pass oob_mode=nisa.oob_mode.skip
nki.kernel @too_many(%x: memref<8x4xf32, #nki.shared_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c9 step %c1 : i32 {
    %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=8
    nisa.dma_copy dst=%t, src=%row
    scf.yield
  }
  nki.return
}

// What a register holds when the instruction runs, which is not what it held when the view was
// made. An engine skips nothing.
// CHECK: error[index-bounds]: nisa.dma_copy: the index of 'src' is -1, legal are 0 to 7
// CHECK: error[index-bounds]: nisa.tensor_copy: the index of 'dst' is 8, legal are 0 to 3
nki.kernel @registers(%x: memref<8x4xf32, #nki.shared_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %below = arith.constant -1 : i32
  %r = nki.register
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %one = nki.alloc : memref<1x1xf32, #nki.sbuf>
  %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%r scale=4 bound=8
  %element = nki.view %t offset=0 pattern=[[4, 1], [1, 1]] scalar=%r scale=1 bound=4
  nisa.register_move dst=%r, src=%c0
  nisa.dma_copy dst=%t, src=%row
  nisa.register_move dst=%r, src=%below
  nisa.dma_copy dst=%t, src=%row
  nisa.register_move dst=%r, src=%c8
  nisa.tensor_copy dst=%element, src=%one
  nki.return
}

// Wrong in every iteration of a loop that may have none.
// CHECK: warning[index-bounds]: nisa.dma_copy: the index of 'src' is 8, legal are 0 to 7, whenever the instruction runs
nki.kernel @perhaps(%x: memref<8x4xf32, #nki.shared_hbm>, %n: memref<1xi32, #nki.shared_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %r = nki.register
  %index = nki.register
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %row = nki.view %x offset=0 pattern=[[4, 1], [1, 4]] scalar=%index scale=4 bound=8
  nisa.register_move dst=%index, src=%c8
  nisa.register_load dst=%r, src=%n
  scf.while () : () -> () {
    %more = nki.read %r
    %not_zero = arith.cmpi ne, %more, %c0 : i32
    scf.condition(%not_zero)
  } do {
    nisa.dma_copy dst=%t, src=%row
    nisa.register_load dst=%r, src=%n
    scf.yield
  }
  nki.return
}

// Indices in a tile: a pattern of which the last is out of bounds. Part of a tile may be in bounds.
// CHECK: error[index-bounds]: nisa.dma_copy: the indices of 'src' go from 5 to 8, legal are 0 to 7
// CHECK: = help: write indices within the tensor, or pass oob_mode=nisa.oob_mode.skip
// CHECK-NOT: dst=%part
nki.kernel @pattern(%x: memref<8x4xf32, #nki.shared_hbm>) target=trn3 {
  %index = nki.alloc : memref<4x1xi32, #nki.sbuf>
  %t = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %part = nki.alloc : memref<3x4xf32, #nki.sbuf>
  %c5 = arith.constant 5 : i32
  nisa.iota dst=%index, pattern=[[1, 1]], offset=%c5, channel_multiplier=1
  %rows = nki.view %x offset=0 pattern=[[4, 4], [1, 4]] vector=%index scale=4 bound=8
  nisa.dma_copy dst=%t, src=%rows
  %some = nki.view %index offset=0 pattern=[[1, 3], [1, 1]]
  %first = nki.view %x offset=0 pattern=[[4, 3], [1, 4]] vector=%some scale=4 bound=8
  nisa.dma_copy dst=%part, src=%first
  nki.return
}

// CHECK: 4 errors and 1 warning
