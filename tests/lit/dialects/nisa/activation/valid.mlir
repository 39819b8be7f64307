// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Scalar Engine activations: the nearest legal neighbours of the kernels in invalid.mlir, by the
// same names.

// CHECK: no findings

// -------------------- nisa.activation

// nl.exp is an activation function.
nki.kernel @activation_function() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data
  nki.return
}

// nl.copy is.
nki.kernel @activation_bypass() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=copy, data=%data
  nki.return
}

// All operands are in PSUM.
nki.kernel @activation_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %far_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.activation dst=%far, op=exp, data=%tile
  nisa.activation dst=%tile, op=exp, data=%far
  nisa.activation dst=%tile, op=exp, data=%tile, scale=%far_column
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%far_column
  nisa.activation dst=%tile, op=exp, data=%tile, reduce_op=add, reduce_res=%far_column, reduce_cmd=reset_reduce
  nki.return
}

// The same number.
nki.kernel @activation_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data
  nki.return
}

// As many; how they are cut into dimensions does not matter.
nki.kernel @activation_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data
  nki.return
}

// (P, 1), and one element in each also counts with more dimensions.
nki.kernel @activation_columns() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %scale = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nki.return
}

// It is; a number has no such rule.
nki.kernel @activation_scale_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %scale = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
  nki.return
}

// Any other type will do.
nki.kernel @activation_bias_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nki.return
}

// An unpacked type of eight bits.
nki.kernel @activation_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  %packed_column = nki.alloc : memref<128x1xf8E4M3FN, #nki.sbuf>
  nisa.activation dst=%packed, op=exp, data=%tile
  nisa.activation dst=%tile, op=exp, data=%packed
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%packed_column
  nisa.activation dst=%tile, op=exp, data=%tile, reduce_op=add, reduce_res=%packed_column, reduce_cmd=reset_reduce
  nisa.activation dst=%packed, op=exp, data=%packed
  nki.return
}

// The next generation has it.
nki.kernel @activation_scalar_bias() target=trn2 {
  %bias = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nki.return
}

// Other functions do.
nki.kernel @activation_reciprocal_bias() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nki.return
}

// nl.add.
nki.kernel @activation_reduce_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce
  nki.return
}

// reset_reduce.
nki.kernel @activation_reduce_cmd() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce
  nki.return
}

// With it; a reset alone needs none, as the sum is the only reduction.
nki.kernel @activation_reduce_without_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=reset
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// The target is NeuronCore-v4.
nki.kernel @activation_engine_generation() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, engine=gpsimd
  nki.return
}

// 'data' is in SBUF.
nki.kernel @activation_gpsimd_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, engine=gpsimd
  nki.return
}

// The Scalar Engine reduces.
nki.kernel @activation_gpsimd_reduces() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%dst, op=exp, data=%data, reduce_res=%sum
  nki.return
}

// -------------------- nisa.activation_reduce

// nl.exp is an activation function.
nki.kernel @activation_reduce_function() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add
  nki.return
}

// nl.copy is.
nki.kernel @activation_reduce_bypass() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=copy, data=%data, reduce_op=add
  nki.return
}

// The next generation has it.
nki.kernel @activation_reduce_scalar_bias() target=trn2 {
  %bias = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add, bias=%bias
  nki.return
}

// Other functions do.
nki.kernel @activation_reduce_reciprocal_bias() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add, bias=%bias
  nki.return
}

// nl.add.
nki.kernel @activation_reduce_reduce_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add
  nki.return
}

// -------------------- nisa.activate2

// trn3 is NeuronCore-v4.
nki.kernel @activate2_generation() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=bypass
  nki.return
}

// nl.gelu is an activation function.
nki.kernel @activate2_function() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nki.return
}

// Of the same one.
nki.kernel @activate2_imm_dtypes() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %imm0 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %imm1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%imm0, imm1=%imm1, op0=multiply, op1=add
  nki.return
}

// An arithmetic operator.
nki.kernel @activate2_bitvec_op0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nki.return
}

// An operator of two operands.
nki.kernel @activate2_unary_op1() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=subtract
  nki.return
}

// That is 'op'.
nki.kernel @activate2_function_as_op0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=bypass
  nki.return
}

// The one operation is 'op0'.
nki.kernel @activate2_op1_alone() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=add, op1=bypass
  nki.return
}

// (multiply, add) is.
nki.kernel @activate2_pair() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nki.return
}

// (subtract, bypass) is a pair.
nki.kernel @activate2_maximum() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=subtract, op1=bypass
  nki.return
}

// It has one.
nki.kernel @activate2_reverse0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=subtract, op1=bypass, reverse0=true
  nki.return
}

// It has one.
nki.kernel @activate2_reverse1() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=subtract, reverse1=true
  nki.return
}

// They have a maximum.
nki.kernel @activate2_reduce_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=maximum, reduce_cmd=reset_reduce
  nki.return
}

// reset_reduce.
nki.kernel @activate2_reduce_cmd() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset_reduce
  nki.return
}

// With it.
nki.kernel @activate2_reduce_without_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=abs_max, reduce_cmd=reset_reduce
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=abs_max, reduce_cmd=reset
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=abs_max, reduce_cmd=reduce
  nki.return
}

// The Scalar and the GpSimd Engine have activation functions.
nki.kernel @activate2_engine() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, engine=scalar
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, engine=gpsimd
  nki.return
}

// -------------------- arguments with an effect

// A reduction; a reset and an idle instruction without the operator.
nki.kernel @activation_no_effect() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reduce
  nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=reset
  nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=idle
  nki.return
}

// The numbers 0 and 1 for what an operator does not take, the default of relu_param for a function
// without parameter, a slope for prelu; a reset whose identity depends on the operator.
nki.kernel @activate2_no_effect() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%column, op0=multiply, op1=add
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%zero, op0=multiply, op1=bypass
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%one, imm1=%zero, op0=bypass, op1=bypass
  nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=add, relu_param=%two
  nisa.activate2 dst=%dst, op=relu, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=add, relu_param=%zero
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset
  nki.return
}
