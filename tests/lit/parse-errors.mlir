// RUN: nkijit-opt --split-input-file --parsing-diagnostics %s | filecheck --match-full-lines %s
// RUN: %python %S/Inputs/verify_each.py %s | filecheck --match-full-lines %s

// Malformed text: the message says what is wrong, and where by line and column.

// An argument that the instruction does not have.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:36
// CHECK: nisa.reciprocal has no argument 'scale'; it has dst, data
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%x, scale=%x
  nki.return
}

// -----

// A required argument is missing.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:22
// CHECK: nisa.tensor_tensor needs argument 'data2'
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%x, data1=%x, op=add
  nki.return
}

// -----

// No arguments at all.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:3
// CHECK: nisa.reciprocal has no argument 'nki.return'; it has dst, data
nki.kernel @k() target=trn3 {
  nisa.reciprocal
  nki.return
}

// -----

// An operand is given twice.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:36
// CHECK: argument 'dst' is given twice
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%x, dst=%x
  nki.return
}

// -----

// A compile-time argument is given twice.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:46
// CHECK: argument 'name' is given twice
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%x, name="a", name="b"
  nki.return
}

// -----

// A word that is not in the enumeration.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:47
// CHECK: unknown reduce_cmd 'restart'; known: idle, reset, reduce, reset_reduce, load_reduce
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=restart
  nki.return
}

// -----

// An engine that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:43
// CHECK: unknown engine 'pool'; known: unknown, tensor, scalar, gpsimd, dma, vector, sync
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%x, src=%x, engine=pool
  nki.return
}

// -----

// An operator that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:30
// CHECK: unknown operator 'softmax'; known: invert, bitwise_and, {{.*}}, bypass
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, op=softmax, data=%x
  nki.return
}

// -----

// An instruction that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:15
// CHECK: Operation nisa.conv2d is not registered
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.conv2d dst=%x, data=%x
  nki.return
}

// -----

// A target that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 2]]:24
// CHECK: unknown platform target 'trn9'; known: trn1, inf2, gen2, trn2, gen3, trn3, gen4
nki.kernel @k() target=trn9 {
  nki.return
}

// -----

// The target is missing.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 2]]:17
// CHECK: Expected 'target'
nki.kernel @k() {
  nki.return
}

// -----

// A value that is not defined.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:32
// CHECK: %y is not defined above
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%y
  nki.return
}

// -----

// A value that is defined too late.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 3]]:23
// CHECK: %x is not defined above
nki.kernel @k() target=trn3 {
  nisa.reciprocal dst=%x, data=%x
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nki.return
}

// -----

// A value that is defined twice.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:3
// CHECK: SSA value %x is already defined
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nki.return
}

// -----

// A number where a tile belongs.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 5]]:32
// CHECK: 'data' is a tile, got f32
nki.kernel @k() target=trn3 {
  %c = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%c
  nki.return
}

// -----

// A number of a type that instructions do not take.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 5]]:49
// CHECK: 'bias' is a tile or a number, got f64
nki.kernel @k() target=trn3 {
  %c = arith.constant 1.0 : f64
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, bias=%c
  nki.return
}

// -----

// A number behind an argument that wants a value of the kernel.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:49
// CHECK: operand expected
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, bias=1.0
  nki.return
}

// -----

// A word where a boolean belongs.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 5]]:64
// CHECK: Expected boolean literal
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%y, op=add, data=%x, axis=[1], negate=yes
  nki.return
}

// -----

// A float where integers belong.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 5]]:53
// CHECK: Expected integer literal
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%y, op=add, data=%x, axis=[1.5]
  nki.return
}

// -----

// A pattern of three numbers instead of [step, count].
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:30
// CHECK: expected [step, count], got [1, 64, 2]
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.iota dst=%x, pattern=[[1, 64, 2]]
  nki.return
}

// -----

// A name that is no string.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:41
// CHECK: string literal expected
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%x, data=%x, name=inverse
  nki.return
}

// -----

// An equals sign is missing.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:23
// CHECK: Expected '='
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst %x
  nki.return
}

// -----

// The argument ends behind the equals sign.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 5]]:3
// CHECK: unknown operator 'nki.return'; known: invert, bitwise_and, {{.*}}, bypass
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, data=%x, op=
  nki.return
}

// -----

// No IR at all.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 2]]:6
// CHECK: Operation hello is not registered
hello, world

// -----

// Characters that no token has.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 3]]:3
// CHECK: Unexpected character: §
nki.kernel @k() target=trn3 {
  §
  nki.return
}

// -----

// A memory space that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 3]]:46
// CHECK: 'nki.l1' is not registered
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.l1>
  nki.return
}

// -----

// A type that does not exist.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 3]]:34
// CHECK: Expected shape type.
nki.kernel @k() target=trn3 {
  %x = nki.alloc : memref<128x64xf12, #nki.sbuf>
  nki.return
}

// -----

// A kernel without an end.
// CHECK: {{.*}}parse-errors.mlir:[[# @LINE + 4]]:1
// CHECK: in block definition
nki.kernel @k() target=trn3 {
  nki.return
