// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of register instructions: parsed, printed, and parsed again.

// From a number, a register and an induction variable.
// CHECK-LABEL: nki.kernel @register_move() target=trn3 {
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %a = nki.register
// CHECK-NEXT: %b = nki.register
// CHECK-NEXT: nisa.register_move dst=%a, src=%c3
// CHECK-NEXT: nisa.register_move dst=%b, src=%a
// CHECK-NEXT: scf.for %i = %c3 to %c3 step %c3 : i32 {
// CHECK-NEXT: nisa.register_move dst=%b, src=%i
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @register_move() target=trn3 {
  %c3 = arith.constant 3 : i32
  %a = nki.register
  %b = nki.register
  nisa.register_move dst=%a, src=%c3
  nisa.register_move dst=%b, src=%a
  scf.for %i = %c3 to %c3 step %c3 : i32 {
    nisa.register_move dst=%b, src=%i
  }
  nki.return
}

// Any data type of one element, in SBUF and HBM, at an address known at run time too.
// CHECK-LABEL: nki.kernel @register_load(%x: memref<8xui8, #nki.private_hbm>) target=trn3 {
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %tile = nki.alloc : memref<1x1xf32, #nki.sbuf>
// CHECK-NEXT: nisa.register_load dst=%r, src=%tile
// CHECK-NEXT: %one = nki.view %x offset=3 pattern=[[1, 1]]
// CHECK-NEXT: nisa.register_load dst=%r, src=%one
// CHECK-NEXT: %moving = nki.view %x offset=0 pattern=[[1, 1]] scalar=%r scale=1 bound=8
// CHECK-NEXT: nisa.register_load dst=%r, src=%moving
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @register_load(%x: memref<8xui8, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xf32, #nki.sbuf>
  nisa.register_load dst=%r, src=%tile
  %one = nki.view %x offset=3 pattern=[[1, 1]]
  nisa.register_load dst=%r, src=%one
  %moving = nki.view %x offset=0 pattern=[[1, 1]] scalar=%r scale=1 bound=8
  nisa.register_load dst=%r, src=%moving
  nki.return
}

// CHECK-LABEL: nki.kernel @register_store(%x: memref<1xi16, #nki.shared_hbm>) target=trn3 {
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
// CHECK-NEXT: nisa.register_store dst=%tile, src=%r
// CHECK-NEXT: nisa.register_store dst=%x, src=%r
// CHECK-NEXT: scf.for %i = %c3 to %c3 step %c3 : i32 {
// CHECK-NEXT: nisa.register_store dst=%tile, src=%i
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @register_store(%x: memref<1xi16, #nki.shared_hbm>) target=trn3 {
  %c3 = arith.constant 3 : i32
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.register_store dst=%tile, src=%r
  nisa.register_store dst=%x, src=%r
  scf.for %i = %c3 to %c3 step %c3 : i32 {
    nisa.register_store dst=%tile, src=%i
  }
  nki.return
}

// Of registers, numbers and an induction variable.
// CHECK-LABEL: nki.kernel @register_compute() target=trn3 {
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %a = nki.register
// CHECK-NEXT: nisa.register_compute dst=%a, data1=%c3, data2=%c3, op=add
// CHECK-NEXT: scf.for %i = %c3 to %c3 step %c3 : i32 {
// CHECK-NEXT: nisa.register_compute dst=%a, data1=%a, data2=%i, op=multiply
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
nki.kernel @register_compute() target=trn3 {
  %c3 = arith.constant 3 : i32
  %a = nki.register
  nisa.register_compute dst=%a, data1=%c3, data2=%c3, op=add
  scf.for %i = %c3 to %c3 step %c3 : i32 {
    nisa.register_compute dst=%a, data1=%a, data2=%i, op=multiply
  }
  nki.return
}
