// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Element-wise instructions: the nearest legal neighbours of the kernels in invalid.mlir, by the
// same names.

// CHECK: no findings

// -------------------- nisa.tensor_tensor

// ALU operators of two operands, of either kind.
nki.kernel @tensor_tensor_operator() target=trn3 {
  %dst = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %a = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=subtract
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=logical_and
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=bitwise_xor
  nki.return
}

// nl.maximum is in all generations.
nki.kernel @tensor_tensor_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=maximum
  nki.return
}

// Each in turn is in PSUM.
nki.kernel @tensor_tensor_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%far, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%far, op=add
  nki.return
}

// One of the two is in SBUF.
nki.kernel @tensor_tensor_both_in_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.psum>
  %a = nki.alloc : memref<128x64xf32, #nki.psum>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add
  nki.return
}

// All operands are in SBUF.
nki.kernel @tensor_tensor_power_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=power
  nisa.tensor_tensor dst=%tile, data1=%far, data2=%tile, op=power
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%far, op=power
  nki.return
}

// All have the same number.
nki.kernel @tensor_tensor_partitions() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%few, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%few, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%few, op=add
  nki.return
}

// All have 64, in whatever shape.
nki.kernel @tensor_tensor_free_size() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x8x8xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%narrow, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%narrow, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%narrow, op=add
  nki.return
}

// An unpacked type of eight bits.
nki.kernel @tensor_tensor_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64xf8E5M2, #nki.sbuf>
  nisa.tensor_tensor dst=%packed, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%packed, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%packed, op=add
  nisa.tensor_tensor dst=%packed, data1=%packed, data2=%packed, op=add
  nki.return
}

// All are integers; their signs may differ.
nki.kernel @tensor_tensor_bitvec_float() target=trn3 {
  %words = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xui32, #nki.sbuf>
  nisa.tensor_tensor dst=%words, data1=%other, data2=%words, op=bitwise_or
  nisa.tensor_tensor dst=%words, data1=%words, data2=%other, op=bitwise_or
  nisa.tensor_tensor dst=%other, data1=%words, data2=%words, op=bitwise_or
  nki.return
}

// Of 16 bits each.
nki.kernel @tensor_tensor_bitvec_widths() target=trn3 {
  %dst = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %a = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=left_shift
  nki.return
}

// The integer itself.
nki.kernel @tensor_tensor_bitvec_boolean() target=trn3 {
  %dst = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %a = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %b = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=bitwise_and
  nki.return
}

// The Vector or the GpSimd Engine.
nki.kernel @tensor_tensor_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add, engine=vector
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add, engine=gpsimd
  nki.return
}

// On the GpSimd Engine, as when engine= is left out.
nki.kernel @tensor_tensor_power_vector() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=power, engine=gpsimd
  nki.return
}

// -------------------- nisa.tensor_scalar

// ALU operators of one or two operands.
nki.kernel @tensor_scalar_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=abs
  nki.return
}

// 'op1' is just left out.
nki.kernel @tensor_scalar_bypass() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @tensor_scalar_generation() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=relu
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=square
  nki.return
}

// Both bitvec.
nki.kernel @tensor_scalar_kinds() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, op1=left_shift, operand1=%three
  nki.return
}

// Given together, or not at all.
nki.kernel @tensor_scalar_operands() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=multiply, operand1=%two
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=multiply, operand1=%two
  nki.return
}

// 0, which is as good as nothing, or nothing.
nki.kernel @tensor_scalar_unary() target=trn3 {
  %operand = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, operand0=%operand
  nisa.tensor_scalar dst=%dst, data=%data, op0=reciprocal
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column, op1=abs, operand1=%operand
  nki.return
}

// With it.
nki.kernel @tensor_scalar_reverse1() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=subtract, operand1=%two, reverse1=true
  nki.return
}

// It reverses 'op0'.
nki.kernel @tensor_scalar_reverse0() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=subtract, operand0=%two, reverse0=true
  nki.return
}

// (P, 1).
nki.kernel @tensor_scalar_columns() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column0 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %column1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column0
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%column1
  nki.return
}

// A tile of float32.
nki.kernel @tensor_scalar_packed_operands() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%column
  nki.return
}

// All are integers of one width.
nki.kernel @tensor_scalar_bitvec_float() target=trn3 {
  %three = arith.constant 3 : i32
  %tile = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%other, data=%tile, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%tile, data=%other, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%tile, data=%tile, op0=bitwise_and, operand0=%column
  nisa.tensor_scalar dst=%tile, data=%tile, op0=bitwise_and, operand0=%three, op1=bitwise_or, operand1=%column
  nki.return
}

// The integer 3.
nki.kernel @tensor_scalar_bitvec_number() target=trn3 {
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%one, op1=left_shift, operand1=%three
  nki.return
}

// 16 bits on both sides.
nki.kernel @tensor_scalar_bitvec_widths() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three
  nki.return
}

// It adds, and multiplies and then adds.
nki.kernel @tensor_scalar_scalar_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, engine=scalar
  nisa.tensor_scalar dst=%dst, data=%data, op0=multiply, operand0=%two, op1=add, operand1=%two, engine=scalar
  nki.return
}

// nl.rsqrt.
nki.kernel @tensor_scalar_gpsimd_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=rsqrt, engine=gpsimd
  nki.return
}

// It has nl.reciprocal.
nki.kernel @tensor_scalar_vector_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=reciprocal, engine=vector
  nki.return
}

// On the Vector Engine.
nki.kernel @tensor_scalar_bitvec_engine() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, engine=vector
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, engine=unknown
  nki.return
}

// -------------------- nisa.scalar_tensor_tensor

// Arithmetic operators.
nki.kernel @scalar_tensor_tensor_bitvec() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=logical_and, operand0=%three, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%three, op1=less, operand1=%other
  nki.return
}

// Both take two operands.
nki.kernel @scalar_tensor_tensor_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=subtract, operand0=%two, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=subtract, operand1=%other
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @scalar_tensor_tensor_generation() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=abs_max, operand0=%two, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=abs_min, operand1=%other
  nki.return
}

// What accumulators reduce with, and what they can be told.
nki.kernel @scalar_tensor_tensor_reduction() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_op=minimum, reduce_res=%sum
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_cmd=reduce, reduce_op=add, reduce_res=%sum
  nki.return
}

// A reduction comes with its operator, and nothing asks for one.
nki.kernel @scalar_tensor_tensor_reduction_without_op() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_op=add, reduce_res=%sum
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other
  nki.return
}

// -------------------- nisa.tensor_scalar_reduce

// Arithmetic operators.
nki.kernel @tensor_scalar_reduce_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=subtract, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=power, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=maximum, operand0=%two, reduce_op=add
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @tensor_scalar_reduce_generation() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs_max, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=square, reduce_op=add
  nki.return
}

// A unary operator needs none.
nki.kernel @tensor_scalar_reduce_no_operand() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs, reduce_op=add
  nki.return
}

// With 0, or none.
nki.kernel @tensor_scalar_reduce_unary() target=trn3 {
  %nothing = arith.constant 0 : i32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs, operand0=%nothing, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=reciprocal, reduce_op=add
  nki.return
}

// Without it.
nki.kernel @tensor_scalar_reduce_reversed() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=subtract, operand0=%two, reduce_op=add
  nki.return
}

// float32.
nki.kernel @tensor_scalar_reduce_operand_dtypes() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%column, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%column
  nki.return
}

// The four that they have.
nki.kernel @tensor_scalar_reduce_reduce_op() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=multiply
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=maximum
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=minimum
  nki.return
}

// The three commands that do. The last goes on from what the second left.
nki.kernel @tensor_scalar_reduce_reduce_cmd() target=trn3 {
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=reset_reduce
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%one
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// With load_reduce.
nki.kernel @tensor_scalar_reduce_reduce_init() target=trn3 {
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%zero
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%column
  nki.return
}

// With one.
nki.kernel @tensor_scalar_reduce_load() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%two
  nki.return
}

// -------------------- nisa.tensor_scalar_cumulative

// Arithmetic operators.
nki.kernel @tensor_scalar_cumulative_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=add, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=power, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=minimum, op1=add, imm0=%two
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @tensor_scalar_cumulative_generation() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs_min, op1=add, imm0=%two
  nki.return
}

// With 0.
nki.kernel @tensor_scalar_cumulative_unary() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0 : i32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs, op1=add, imm0=%zero
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs, op1=add, imm0=%nothing
  nki.return
}

// One of them.
nki.kernel @tensor_scalar_cumulative_reduction() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=subtract, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=minimum, imm0=%two
  nki.return
}

// The three commands that do.
nki.kernel @tensor_scalar_cumulative_reduce_cmd() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=reset_reduce
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=reduce
  nki.return
}

// With one; other commands take no notice of it.
nki.kernel @tensor_scalar_cumulative_load() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, imm1=%two, reduce_cmd=load_reduce
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, imm1=%two, reduce_cmd=reduce
  nki.return
}

// -------------------- arguments with an effect

// An operator of two operands; one of one operand without the flag, or with its default.
nki.kernel @tensor_scalar_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=subtract, operand0=%two, reverse0=true
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, reverse0=false
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=reciprocal
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=subtract, operand1=%two, reverse1=true
  nki.return
}

// With reset_reduce, the default, the results are reduced.
nki.kernel @scalar_tensor_tensor_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%tile, data=%tile, op0=add, operand0=%two, op1=add, operand1=%tile, reduce_op=add
  nisa.scalar_tensor_tensor dst=%tile, data=%tile, op0=add, operand0=%two, op1=add, operand1=%tile, reduce_cmd=idle
  nki.return
}

// The negated sum is written.
nki.kernel @tensor_scalar_reduce_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_res=%sum, reduce_res_negate=true
  nki.return
}

// The initial value is loaded; a loop may pass it in later iterations too.
nki.kernel @tensor_scalar_cumulative_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, imm1=%two, reduce_cmd=load_reduce
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, imm1=%two, reduce_cmd=reduce
  nki.return
}
