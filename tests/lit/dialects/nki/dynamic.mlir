// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// Registers, loops and views whose address is known at run time only.

// Registers, and the value that one holds.
// CHECK-LABEL: nki.kernel @registers() target=trn3 {
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %n = nki.read %r
// CHECK-NEXT: %s = nki.register {origin = "a test"}
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @registers() target=trn3 {
  %r = nki.register
  %n = nki.read %r
  %s = nki.register {origin = "a test"}
  nki.return
}

// A counted loop, with bounds that are numbers, a register's value and an induction variable.
// CHECK-LABEL: nki.kernel @counted_loops() target=trn3 {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %c2 = arith.constant 2 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %n = nki.read %r
// CHECK-NEXT: scf.for %i = %c0 to %n step %c2 : i32 {
// CHECK-NEXT: scf.for %j = %i to %n step %c2 : i32 {
// CHECK-NEXT: nisa.register_move dst=%r, src=%j
// CHECK-NEXT: }
// CHECK-NEXT: nki.no_reorder {
// CHECK-NEXT: nisa.register_move dst=%r, src=%i
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @counted_loops() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %r = nki.register
  %n = nki.read %r
  scf.for %i = %c0 to %n step %c2 : i32 {
    scf.for %j = %i to %n step %c2 : i32 {
      nisa.register_move dst=%r, src=%j
    }
    nki.no_reorder {
      nisa.register_move dst=%r, src=%i
    }
  }
  nki.return
}

// A loop that goes on while a register is not zero.
// CHECK-LABEL: nki.kernel @while_loops() target=trn3 {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: scf.while () : () -> () {
// CHECK-NEXT: %n = nki.read %r
// CHECK-NEXT: %more = arith.cmpi ne, %n, %c0 : i32
// CHECK-NEXT: scf.condition(%more)
// CHECK-NEXT: } do {
// CHECK-NEXT: nisa.register_move dst=%r, src=%c0
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @while_loops() target=trn3 {
  %c0 = arith.constant 0 : i32
  %r = nki.register
  scf.while () : () -> () {
    %n = nki.read %r
    %more = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.register_move dst=%r, src=%c0
    scf.yield
  }
  nki.return
}

// Instructions that keep their order, also inside another block.
// CHECK-LABEL: nki.kernel @no_reorder() target=trn3 {
// CHECK-NEXT: %t = nki.alloc : memref<4x8xf32, #nki.sbuf>
// CHECK-NEXT: nki.no_reorder {
// CHECK-NEXT: nisa.memset dst=%t, value=0
// CHECK-NEXT: nki.no_reorder {
// CHECK-NEXT: nisa.memset dst=%t, value=1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @no_reorder() target=trn3 {
  %t = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nki.no_reorder {
    nisa.memset dst=%t, value=0
    nki.no_reorder {
      nisa.memset dst=%t, value=1
    }
  }
  nki.return
}

// A view that one index moves: of a register, a tile, an induction variable, a number.
// CHECK-LABEL: nki.kernel @scalar_views(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %c1 = arith.constant 1 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %at = nki.alloc : memref<1x1xi32, #nki.sbuf>
// CHECK-NEXT: %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
// CHECK-NEXT: %by_register = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%r scale=8 bound=49
// CHECK-NEXT: %by_tile = nki.view %x offset=8 pattern=[[8, 16], [2, 4]] scalar=%at scale=1 bound=2
// CHECK-NEXT: %by_number = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%c1 scale=8 bound=49
// CHECK-NEXT: %on_chip = nki.view %tile offset=0 pattern=[[8, 16], [1, 1]] scalar=%r scale=1 bound=8
// CHECK-NEXT: %other_type = nki.view %x offset=0 pattern=[[16, 16], [1, 16]] scalar=%r scale=16 bound=49 as bf16
// CHECK-NEXT: %repeated = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%r scale=0 bound=4
// CHECK-NEXT: scf.for %i = %c0 to %c1 step %c1 : i32 {
// CHECK-NEXT: %by_variable = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%i scale=8 bound=49
// CHECK-NEXT: nisa.dma_copy dst=%tile, src=%by_variable
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @scalar_views(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = nki.register
  %at = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %by_register = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%r scale=8 bound=49
  %by_tile = nki.view %x offset=8 pattern=[[8, 16], [2, 4]] scalar=%at scale=1 bound=2
  %by_number = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%c1 scale=8 bound=49
  %on_chip = nki.view %tile offset=0 pattern=[[8, 16], [1, 1]] scalar=%r scale=1 bound=8
  %other_type = nki.view %x offset=0 pattern=[[16, 16], [1, 16]] scalar=%r scale=16 bound=49 as bf16
  %repeated = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%r scale=0 bound=4
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    %by_variable = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] scalar=%i scale=8 bound=49
    nisa.dma_copy dst=%tile, src=%by_variable
  }
  nki.return
}

// A view whose rows a vector of indices names; its first stride is that of an index.
// CHECK-LABEL: nki.kernel @vector_views(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
// CHECK-NEXT: %rows = nki.alloc : memref<128x1xi32, #nki.sbuf>
// CHECK-NEXT: %gathered = nki.view %x offset=0 pattern=[[8, 128], [1, 8]] vector=%rows scale=8 bound=64
// CHECK-NEXT: %deep = nki.view %x offset=2 pattern=[[8, 128], [4, 2], [1, 2]] vector=%rows scale=8 bound=64
// CHECK-NEXT: %bits = nki.view %x offset=0 pattern=[[8, 128], [1, 8]] vector=%rows scale=8 bound=64 as i32
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @vector_views(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %gathered = nki.view %x offset=0 pattern=[[8, 128], [1, 8]] vector=%rows scale=8 bound=64
  %deep = nki.view %x offset=2 pattern=[[8, 128], [4, 2], [1, 2]] vector=%rows scale=8 bound=64
  %bits = nki.view %x offset=0 pattern=[[8, 128], [1, 8]] vector=%rows scale=8 bound=64 as i32
  nki.return
}

// The elements of each partition that an index tile names.
// CHECK-LABEL: nki.kernel @tensor_views() target=trn3 {
// CHECK-NEXT: %tile = nki.alloc : memref<16x4x8xf32, #nki.sbuf>
// CHECK-NEXT: %numbers = nki.alloc : memref<16x3xui32, #nki.sbuf>
// CHECK-NEXT: %all = nki.view %tile offset=0 pattern=[[32, 16], [8, 4], [1, 8]] tensor=%numbers scale=1 bound=32 count=48
// CHECK-NEXT: %some = nki.view %tile offset=4 pattern=[[32, 16], [1, 4]] tensor=%numbers scale=1 bound=4 count=5
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @tensor_views() target=trn3 {
  %tile = nki.alloc : memref<16x4x8xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x3xui32, #nki.sbuf>
  %all = nki.view %tile offset=0 pattern=[[32, 16], [8, 4], [1, 8]] tensor=%numbers scale=1 bound=32 count=48
  %some = nki.view %tile offset=4 pattern=[[32, 16], [1, 4]] tensor=%numbers scale=1 bound=4 count=5
  nki.return
}
