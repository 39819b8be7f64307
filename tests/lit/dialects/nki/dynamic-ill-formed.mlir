// RUN: nkijit-opt --split-input-file --parsing-diagnostics --verify-diagnostics %s | filecheck %s
// RUN: %python %S/../../Inputs/verify_each.py %s | filecheck %s

// Addresses and loops known at run time that can be written down but mean nothing.

// A view that leaves its allocation at its last index.
// CHECK: elements 488 to 519 are touched; the shape is (4, 8), strides (8, 1), offset 488; legal: 0 to 511, inside the allocation
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%r scale=8 bound=62
  nki.return
}

// -----

// So does a row that a vector of indices names.
// CHECK: elements 512 to 519 are touched; the shape is (1, 8), strides (8, 1), offset 512; legal: 0 to 511, inside the allocation
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<4x1xi32, #nki.sbuf>
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] vector=%rows scale=8 bound=65
  nki.return
}

// -----

// On chip an index stays in the partition.
// CHECK: elements 5 to 8 of a partition are touched; the shape is (15, 4), strides (8, 1), offset 5; legal: 0 to 7, a row must stay in its partition
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %r = nki.register
  %v = nki.view %t offset=0 pattern=[[8, 15], [1, 4]] scalar=%r scale=1 bound=6
  nki.return
}

// -----

// It does not address partitions.
// CHECK: an index of a tile moves it to other partitions
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %r = nki.register
  %v = nki.view %t offset=0 pattern=[[8, 15], [1, 8]] scalar=%r scale=8 bound=2
  nki.return
}

// -----

// No index is legal.
// CHECK: expected a bound of at least 1 and a scale of at least 0
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%r scale=8 bound=0
  nki.return
}

// -----

// An index that runs backwards.
// CHECK: expected a bound of at least 1 and a scale of at least 0
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=64 pattern=[[8, 4], [1, 8]] scalar=%r scale=-8 bound=2
  nki.return
}

// -----

// A vector of indices is a tile.
// CHECK: vector indirection needs an index tile
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] vector=%r scale=8 bound=4
  nki.return
}

// -----

// An index is a register or a tile.
// CHECK: expected a register or a tile, got f32
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1.0 : f32
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%c scale=8 bound=4
  nki.return
}

// -----

// An index has a scale and a bound.
// CHECK: Expected 'bound'
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%r scale=8
  nki.return
}

// -----

// Tensor indirection has a count.
// CHECK: a positive count goes with tensor indirection, and only with it
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %n = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %v = nki.view %t offset=0 pattern=[[8, 16], [1, 8]] tensor=%n scale=1 bound=8 count=0
  nki.return
}

// -----

// Its bound is what a partition has.
// CHECK: expected the 8 elements of a partition as bound, got 9
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %t = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %n = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %v = nki.view %t offset=0 pattern=[[8, 16], [1, 8]] tensor=%n scale=1 bound=9 count=4
  nki.return
}

// -----

// An index whose own address is an index.
// CHECK: the address of an index is known before the kernel runs
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %n = nki.alloc : memref<1x4xi32, #nki.sbuf>
  %i = nki.view %n offset=0 pattern=[[4, 1], [1, 1]] scalar=%r scale=1 bound=4
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%i scale=8 bound=4
  nki.return
}

// -----

// A register is read, not a number.
// CHECK: operand is used with type !nki.reg, but has been previously used or defined with type i32
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : i32
  %n = nki.read %c
  nki.return
}

// -----

// The induction variable is not written.
// CHECK: 'dst' is a register, got i32
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : i32
  scf.for %i = %c to %c step %c : i32 {
    nisa.register_move dst=%i, src=%c
  }
  nki.return
}

// -----

// A register holds no float.
// CHECK: 'src' is an int32 or a register, got f32
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1.0 : f32
  %r = nki.register
  nisa.register_move dst=%r, src=%c
  nki.return
}

// -----

// Nor an integer of 64 bits.
// CHECK: 'src' is an int32 or a register, got i64
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 4294967296 : i64
  %r = nki.register
  nisa.register_move dst=%r, src=%c
  nki.return
}

// -----

// A loop carries no values along.
// CHECK: expected scf.for without values that it carries along
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : i32
  %sum = scf.for %i = %c to %c step %c iter_args(%s = %c) -> (i32) : i32 {
    scf.yield %s : i32
  }
  nki.return
}

// -----

// Its bounds are 32-bit integers.
// CHECK: expected bounds of type i32, got index
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : index
  scf.for %i = %c to %c step %c {
  }
  nki.return
}

// -----

// The test of a loop is that a register is not zero.
// CHECK: expected arith.cmpi with the predicate ne
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : i32
  scf.while () : () -> () {
    %more = arith.cmpi slt, %c, %c : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  nki.return
}

// -----

// There is no other control flow.
// CHECK: scf.if is not an operation of a kernel
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant true
  scf.if %c {
  }
  nki.return
}

// -----

// A loop in a block that keeps its order.
// CHECK: a loop on the device is not inside nki.no_reorder
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c = arith.constant 1 : i32
  nki.no_reorder {
    scf.for %i = %c to %c step %c : i32 {
    }
  }
  nki.return
}

// -----

// What is printed has a static address.
// CHECK: the address of memref<4x8xf32, strided<[8, 1], offset: ?>, #nki.private_hbm> is known at run time only
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %v = nki.view %x offset=0 pattern=[[8, 4], [1, 8]] scalar=%r scale=8 bound=4
  nki.device_print "x", %v
  nki.return
}

// -----

// A loop that stands still.
// CHECK: {{.*}}dynamic-ill-formed.mlir:[[# @LINE + 7]]:3
// CHECK: the step of a loop is at least 1, it is 0
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %r = nki.register
  nisa.register_move dst=%r, src=%c8
  scf.for %i = %c0 to %c8 step %c0 : i32 {
    nisa.register_move dst=%r, src=%i
  }
  nki.return
}

// -----

// A loop that counts down.
// CHECK: the step of a loop is at least 1, it is -2
nki.kernel @k(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant -2 : i32
  %r = nki.register
  nisa.register_move dst=%r, src=%c8
  scf.for %i = %c0 to %c0 step %c8 : i32 {
    nisa.register_move dst=%r, src=%i
  }
  nki.return
}
