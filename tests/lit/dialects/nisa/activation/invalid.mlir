// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Scalar Engine activations: what the rules forbid. A kernel here breaks one rule, for one
// operand or argument after the other; where it cannot break one alone, its comment says so. The
// kernel of the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.activation

// nl.add is an ALU operator.
// CHECK: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=add, data=%data
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an activation function, e.g. nl.exp or nl.gelu; operators such as nl.add go to nisa.tensor_tensor and nisa.tensor_scalar
nki.kernel @activation_function() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=add, data=%data
  nki.return
}

// nl.bypass is not an activation function; the identity is nl.copy.
// CHECK: error[activation-function]: nisa.activation: 'op' is nl.bypass, which is not an activation function
nki.kernel @activation_bypass() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=bypass, data=%data
  nki.return
}

// Each operand in turn is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.activation: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%far, op=exp, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.activation: 'data' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.activation: 'scale' must be in sbuf or psum, it is in shared_hbm
// CHECK: error[buffer]: nisa.activation: 'bias' must be in sbuf or psum, it is in shared_hbm
// CHECK: error[buffer]: nisa.activation: 'reduce_res' must be in sbuf or psum, it is in shared_hbm
nki.kernel @activation_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_column = nki.alloc : memref<128x1xf32, #nki.shared_hbm>
  nisa.activation dst=%far, op=exp, data=%tile
  nisa.activation dst=%tile, op=exp, data=%far
  nisa.activation dst=%tile, op=exp, data=%tile, scale=%far_column
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%far_column
  nisa.activation dst=%tile, op=exp, data=%tile, reduce_op=add, reduce_res=%far_column, reduce_cmd=reset_reduce
  nki.return
}

// 'dst' has fewer partitions than 'data'.
// CHECK: error[partitions-match]: nisa.activation: different numbers of partitions: 'data' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read data[0:64] only
nki.kernel @activation_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data
  nki.return
}

// 'dst' has half of the elements per partition.
// CHECK: error[free-size-match]: nisa.activation: different numbers of elements per partition: 'data' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, data[:, 0:32], or allocate 'dst' with 64 elements per partition
nki.kernel @activation_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data
  nki.return
}

// A per-partition operand has fewer rows than 'data' has partitions, or two elements in each.
// CHECK: error[column]: nisa.activation: 'scale' must have shape (128, 1), one element for each partition of 'data', it is 64x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = scale: %scale, sbuf 64x1 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a number, or a tile with one element per partition, e.g. t[:, 0:1]
// CHECK: error[column]: nisa.activation: 'bias' must have shape (128, 1), one element for each partition of 'data', it is 128x2
// CHECK: error[column]: nisa.activation: 'reduce_res' must have shape (128, 1), one element for each partition of 'data', it is 128x1x2
nki.kernel @activation_columns() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %scale = nki.alloc : memref<64x1xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1x2xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nki.return
}

// A tile as 'scale' is not float32.
// CHECK: error[dtype]: nisa.activation: 'scale' must be float32, it is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = scale: %scale, sbuf 128x1 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
nki.kernel @activation_scale_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %scale = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, scale=%scale
  nki.return
}

// 'bias' is tfloat32, the one type that it cannot have.
// CHECK: error[dtype]: nisa.activation: 'bias' cannot be tfloat32
nki.kernel @activation_bias_dtype() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xtf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nki.return
}

// Each operand in turn is of a packed type, which engines do not convert, not even to itself.
// CHECK: error[dtype-computable]: nisa.activation: engines do not convert 'dst', a float8_e4m3fn_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%packed, op=exp, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed, sbuf 128x64 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.activation: engines do not convert 'data', a float8_e4m3fn_x4
// CHECK: error[dtype-computable]: nisa.activation: engines do not convert 'bias', a float4_e2m1fn_x4
// CHECK: error[dtype-computable]: nisa.activation: engines do not convert 'reduce_res', a float4_e2m1fn_x4
// CHECK: error[dtype-computable]: nisa.activation: engines do not convert 'dst', a float8_e4m3fn_x4
nki.kernel @activation_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %packed_column = nki.alloc : memref<128x1x!nki.f4E2M1FNx4, #nki.sbuf>
  nisa.activation dst=%packed, op=exp, data=%tile
  nisa.activation dst=%tile, op=exp, data=%packed
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%packed_column
  nisa.activation dst=%tile, op=exp, data=%tile, reduce_op=add, reduce_res=%packed_column, reduce_cmd=reset_reduce
  nisa.activation dst=%packed, op=exp, data=%packed
  nki.return
}

// A number as 'bias' is new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.activation: a scalar 'bias' needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the argument at its default, or trace for a newer target with platform_target=
nki.kernel @activation_scalar_bias() target=trn1 {
  %bias = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, bias=%bias
  nki.return
}

// On NeuronCore-v2 nl.reciprocal takes no 'bias', not even a tile.
// CHECK: error[argument-generation]: nisa.activation: 'bias' together with op=nl.reciprocal needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @activation_reciprocal_bias() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=reciprocal, data=%data, bias=%bias
  nki.return
}

// The accumulators sum; they have no maximum here.
// CHECK: error[reduce-op]: nisa.activation: 'reduce_op' must be nl.add, it is nl.maximum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, reduce_op=maximum, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
nki.kernel @activation_reduce_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=maximum, reduce_cmd=reset_reduce
  nki.return
}

// load_reduce belongs to nisa.exponential.
// CHECK: error[reduce-cmd]: nisa.activation: 'reduce_cmd' must be idle, reset, reduce or reset_reduce, it is load_reduce
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=load_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
nki.kernel @activation_reduce_cmd() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=load_reduce
  nki.return
}

// A command that reduces comes without 'reduce_op'.
// CHECK: error[reduce-cmd-needs-op]: nisa.activation: 'reduce_cmd' is reset_reduce, but 'reduce_op' is not given
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass reduce_op=, e.g. nl.add
// CHECK: error[reduce-cmd-needs-op]: nisa.activation: 'reduce_cmd' is reduce, but 'reduce_op' is not given
nki.kernel @activation_reduce_without_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=reset_reduce
  nisa.activation dst=%dst, op=exp, data=%data, reduce_cmd=reduce
  nki.return
}

// The GpSimd Engine has them from NeuronCore-v4 on.
// CHECK: error[argument-generation]: nisa.activation: 'engine' gpsimd needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @activation_engine_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, engine=gpsimd
  nki.return
}

// The GpSimd Engine cannot reach PSUM.
// CHECK: error[gpsimd-psum]: nisa.activation: the GpSimd Engine cannot reach PSUM, but 'data' is in PSUM
nki.kernel @activation_gpsimd_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.activation dst=%dst, op=exp, data=%data, engine=gpsimd
  nki.return
}

// Accumulators are the Scalar Engine's.
// CHECK: error[engine-operator]: nisa.activation: the GpSimd Engine has no accumulators, but 'reduce_cmd' is reset_reduce
// CHECK: error[engine-operator]: nisa.activation: the GpSimd Engine has no accumulators, but 'reduce_res' is given
nki.kernel @activation_gpsimd_reduces() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset_reduce, engine=gpsimd
  nisa.activation dst=%dst, op=exp, data=%data, reduce_res=%sum, engine=gpsimd
  nki.return
}

// -------------------- nisa.activation_reduce

// nl.add is an ALU operator.
// CHECK: error[activation-function]: nisa.activation_reduce: 'op' is nl.add, which is not an activation function
nki.kernel @activation_reduce_function() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=add, data=%data, reduce_op=add
  nki.return
}

// nl.bypass is not an activation function; the identity is nl.copy.
// CHECK: error[activation-function]: nisa.activation_reduce: 'op' is nl.bypass, which is not an activation function
nki.kernel @activation_reduce_bypass() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=bypass, data=%data, reduce_op=add
  nki.return
}

// A number as 'bias' is new in NeuronCore-v3.
// CHECK: error[argument-generation]: nisa.activation_reduce: a scalar 'bias' needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @activation_reduce_scalar_bias() target=trn1 {
  %bias = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add, bias=%bias
  nki.return
}

// On NeuronCore-v2 nl.reciprocal takes no 'bias', not even a tile.
// CHECK: error[argument-generation]: nisa.activation_reduce: 'bias' together with op=nl.reciprocal needs NeuronCore-v3, the target trn1 is NeuronCore-v2
nki.kernel @activation_reduce_reciprocal_bias() target=trn1 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bias = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=reciprocal, data=%data, reduce_op=add, bias=%bias
  nki.return
}

// The accumulators sum; they have no maximum here.
// CHECK: error[reduce-op]: nisa.activation_reduce: 'reduce_op' must be nl.add, it is nl.maximum
nki.kernel @activation_reduce_reduce_op() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=maximum
  nki.return
}

// -------------------- nisa.activate2

// activate2 is new in NeuronCore-v4.
// CHECK: error[generation]: nisa.activate2: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another instruction, or trace for a newer target with platform_target=
// CHECK: error[generation]: nisa.activate2: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @activate2_generation() target=trn2 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=bypass
  nki.return
}

// nl.maximum is an ALU operator.
// CHECK: error[activation-function]: nisa.activate2: 'op' is nl.maximum, which is not an activation function
nki.kernel @activate2_function() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=maximum, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add
  nki.return
}

// Both immediates are tiles, of different data types.
// CHECK: error[same-dtype]: nisa.activate2: different data types: 'imm0' is float32, 'imm1' is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%imm0, imm1=%imm1, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = imm0: %imm0, sbuf 128x1 float32, allocated at {{.*}}
// CHECK-NEXT: = imm1: %imm1, sbuf 128x1 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
nki.kernel @activate2_imm_dtypes() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %imm0 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %imm1 = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%imm0, imm1=%imm1, op0=multiply, op1=add
  nki.return
}

// 'op0' is a bitvec operator; no pair of operators has one, so that is said as well.
// CHECK: error[alu-operator]: nisa.activate2: 'op0' must be arithmetic, nl.bitwise_and is bitvec
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bitwise_and, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (bitwise_and, add), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bitwise_and, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass one of the six, e.g. op0=nl.multiply, op1=nl.add; nl.bypass leaves a step out
nki.kernel @activate2_bitvec_op0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bitwise_and, op1=add
  nki.return
}

// 'op1' takes one operand, and imm1 would be left over.
// CHECK: error[alu-operator]: nisa.activate2: 'op1' is nl.abs, an operator of one operand
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (multiply, abs), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
nki.kernel @activate2_unary_op1() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=abs
  nki.return
}

// 'op0' is an activation function.
// CHECK: error[alu-operator]: nisa.activate2: 'op0' is nl.tanh, which is not an ALU operator
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (tanh, bypass), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
nki.kernel @activate2_function_as_op0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=tanh, op1=bypass
  nki.return
}

// 'op1' is set while 'op0' is bypassed.
// CHECK: error[op1-needs-op0]: nisa.activate2: 'op1' is nl.add, but 'op0' is not set
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass the operator as op0 and its operand as imm0, with op1=nl.bypass; or set op0 as well
nki.kernel @activate2_op1_alone() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=add
  nki.return
}

// (add, multiply) is not one of the six pairs.
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (add, multiply), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
nki.kernel @activate2_pair() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=add, op1=multiply
  nki.return
}

// nl.maximum is arithmetic, but in none of the pairs.
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (maximum, bypass), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
nki.kernel @activate2_maximum() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=maximum, op1=bypass
  nki.return
}

// 'reverse0' has no operation to reverse.
// CHECK: error[reverse-needs-op]: nisa.activate2: 'reverse0' is True, but 'op0' is not set
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=bypass, reverse0=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: set the operator, or leave the reverse flag out
nki.kernel @activate2_reverse0() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=bypass, op1=bypass, reverse0=true
  nki.return
}

// 'reverse1' has no operation to reverse.
// CHECK: error[reverse-needs-op]: nisa.activate2: 'reverse1' is True, but 'op1' is not set
nki.kernel @activate2_reverse1() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=bypass, reverse1=true
  nki.return
}

// The accumulators have no product.
// CHECK: error[reduce-op]: nisa.activate2: 'reduce_op' must be nl.add, nl.maximum, nl.minimum, nl.abs_max or nl.abs_min, it is nl.multiply
nki.kernel @activate2_reduce_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=multiply, reduce_cmd=reset_reduce
  nki.return
}

// load_reduce belongs to nisa.exponential.
// CHECK: error[reduce-cmd]: nisa.activate2: 'reduce_cmd' must be idle, reset, reduce or reset_reduce, it is load_reduce
nki.kernel @activate2_reduce_cmd() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=add, reduce_cmd=load_reduce
  nki.return
}

// A command that resets or reduces comes without 'reduce_op'.
// CHECK: error[reduce-cmd-needs-op]: nisa.activate2: 'reduce_cmd' is reset_reduce, but 'reduce_op' is not given
// CHECK: error[reduce-cmd-needs-op]: nisa.activate2: 'reduce_cmd' is reset, but 'reduce_op' is not given
// CHECK: error[reduce-cmd-needs-op]: nisa.activate2: 'reduce_cmd' is reduce, but 'reduce_op' is not given
nki.kernel @activate2_reduce_without_op() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_cmd=reset_reduce
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_cmd=reset
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_cmd=reduce
  nki.return
}

// The Vector Engine has no activation functions, and the GpSimd Engine no accumulators.
// CHECK: error[engine]: nisa.activate2: the instruction runs on scalar or gpsimd, not on vector
// CHECK: error[engine-operator]: nisa.activate2: the GpSimd Engine has no accumulators, but 'reduce_cmd' is reset
nki.kernel @activate2_engine() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, engine=vector
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%zero, imm1=%zero, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset, engine=gpsimd
  nki.return
}

// -------------------- arguments without effect

// Nothing is reduced, or the accumulators are only reset to 0, so the operator is not needed.
// CHECK: warning[no-effect]: nisa.activation: 'reduce_op' has no effect, as 'reduce_cmd' is idle
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce, or leave reduce_op out
// CHECK: warning[no-effect]: nisa.activation: 'reduce_op' has no effect, as 'reduce_cmd' is reset
nki.kernel @activation_no_effect() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add
  nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reset
  nki.return
}

// An operand of an operator that is left out, the slope of a function that has none, and an
// operator of accumulators that do not change.
// CHECK: warning[no-effect]: nisa.activate2: 'imm1' has no effect, as 'op1' is nl.bypass
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%column, op0=multiply, op1=bypass
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = imm1: %column, sbuf 128x1 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass an operator as op1, or pass imm1=0
// CHECK: warning[no-effect]: nisa.activate2: 'imm0' has no effect, as 'op0' is nl.bypass
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK: = help: pass an operator as op0, or pass imm0=0
// CHECK: warning[no-effect]: nisa.activate2: 'relu_param' has no effect, as 'op' is nl.relu, a function without a parameter
// CHECK: = help: pass op=nl.prelu, or leave relu_param out
// CHECK: warning[no-effect]: nisa.activate2: 'reduce_op' has no effect, as 'reduce_cmd' is idle
nki.kernel @activate2_no_effect() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%column, op0=multiply, op1=bypass
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%zero, op0=bypass, op1=bypass
  nisa.activate2 dst=%dst, op=relu, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=add, relu_param=%two
  nisa.activate2 dst=%dst, op=exp, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=add, reduce_op=add
  nki.return
}

// CHECK: 56 errors and 6 warnings
