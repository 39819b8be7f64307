// RUN: nkijit-opt --split-input-file --parsing-diagnostics --verify-diagnostics %s | filecheck %s
// RUN: %python %S/../../Inputs/verify_each.py %s | filecheck %s

// Instructions in the generic form that the pretty form could not even spell: no pass runs on them.

// A property is missing.
// CHECK: property 'value' expected in operation 'nisa.memset'
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.memset"(%x) : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A property that the instruction does not have.
// CHECK: property 'scale' is not defined by the operation 'nisa.memset'.
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.memset"(%x) <{value = 0 : i64, scale = 2 : i64}> : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A string where a number belongs, and a number of the wrong width.
// CHECK: expected a 64-bit integer or a float32, got "one"
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.memset"(%x) <{value = "one"}> : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: expected a 64-bit integer or a float32, got 1 : i32
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.memset"(%x) <{value = 1 : i32}> : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A word of another enumeration.
// CHECK: expected an attribute #nisa.engine, got #nisa.reduce_cmd<idle>
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.memset"(%x) <{value = 0 : i64, engine = #nisa.reduce_cmd<idle>}> : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A string for an operator.
// CHECK: expected an attribute #nisa.op, got "add"
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.tensor_tensor"(%x, %x, %x) <{op = "add"}> : (memref<64x64xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// An integer for a boolean.
// CHECK: expected a boolean, got 1 : i64
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %y = "nki.alloc"() : () -> memref<64x1xf32, #nki.sbuf>
  "nisa.tensor_reduce"(%y, %x) <{op = #nisa.op<add>, axis = array<i64: 1>, negate = 1 : i64}> : (memref<64x1xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A single integer for an array of them.
// CHECK: expected an array of 64-bit integers, got 1 : i64
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %y = "nki.alloc"() : () -> memref<64x1xf32, #nki.sbuf>
  "nisa.tensor_reduce"(%y, %x) <{op = #nisa.op<add>, axis = 1 : i64}> : (memref<64x1xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A pattern of three numbers instead of pairs.
// CHECK: expected an array of pairs of 64-bit integers, got [array<i64: 1, 64, 2>]
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.iota"(%x) <{pattern = [array<i64: 1, 64, 2>], operandSegmentSizes = array<i32: 1, 0>}> : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// Too few operands.
// CHECK: Expected 2 operands, but got 1
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.reciprocal"(%x) : (memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// Two operands, and a list that announces three.
// CHECK: operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.activation"(%x, %x) <{op = #nisa.op<gelu>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (memref<64x64xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A number for a tile.
// CHECK: operand 'data' at position 1 does not verify:
// CHECK-NEXT: expected a memref, got f32
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %one = "arith.constant"() <{value = 1.0 : f32}> : () -> f32
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.reciprocal"(%x, %one) : (memref<64x64xf32, #nki.sbuf>, f32) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A number of a type that instructions do not take.
// CHECK: expected a memref, f32, i32 or i64, got bf16
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %one = "arith.constant"() <{value = 1.0 : bf16}> : () -> bf16
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  "nisa.activation"(%x, %x, %one) <{op = #nisa.op<gelu>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (memref<64x64xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>, bf16) -> ()
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A result: instructions write operands, they return nothing.
// CHECK: Expected 0 results, but got 1
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %x = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %y = "nisa.reciprocal"(%x, %x) : (memref<64x64xf32, #nki.sbuf>, memref<64x64xf32, #nki.sbuf>) -> memref<64x64xf32, #nki.sbuf>
  "nki.return"() : () -> ()
}) : () -> ()
