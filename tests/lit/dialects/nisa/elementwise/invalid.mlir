// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Element-wise instructions: what the rules forbid. A kernel here breaks one rule, for one
// operand or argument after the other; where it cannot break one alone, its comment says so. The
// kernel of the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.tensor_tensor

// The operator is an activation function, bypass, or takes one operand.
// CHECK: error[alu-operator]: nisa.tensor_tensor: 'op' is nl.gelu, which is not an ALU operator
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=gelu
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
// CHECK: error[alu-operator]: nisa.tensor_tensor: 'op' is nl.bypass, which is not an ALU operator
// CHECK: error[alu-operator]: nisa.tensor_tensor: 'op' is nl.invert, an operator of one operand
nki.kernel @tensor_tensor_operator() target=trn3 {
  %dst = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %a = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=gelu
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=bypass
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=invert
  nki.return
}

// nl.abs_max is new in NeuronCore-v4.
// CHECK: error[operator-generation]: nisa.tensor_tensor: 'op' is nl.abs_max, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=abs_max
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another operator, or trace for a newer target with platform_target=
nki.kernel @tensor_tensor_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=abs_max
  nki.return
}

// Each operand in turn is in HBM.
// CHECK: error[buffer]: nisa.tensor_tensor: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.tensor_tensor: 'data1' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.tensor_tensor: 'data2' must be in sbuf or psum, it is in private_hbm
nki.kernel @tensor_tensor_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%far, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%far, op=add
  nki.return
}

// Both inputs are in PSUM.
// CHECK: error[both-in-psum]: nisa.tensor_tensor: 'data1' and 'data2' are both in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data1: %a, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data2: %b, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: copy one of the two to SBUF with nisa.tensor_copy first
nki.kernel @tensor_tensor_both_in_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.psum>
  %a = nki.alloc : memref<128x64xf32, #nki.psum>
  %b = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add
  nki.return
}

// nl.power runs on the GpSimd Engine, and each operand in turn is in PSUM.
// CHECK: error[gpsimd-psum]: nisa.tensor_tensor: the GpSimd Engine cannot reach PSUM, but 'dst' is in PSUM
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=power
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: copy the tile to SBUF first with nisa.tensor_copy, or leave engine= to another engine
// CHECK: error[gpsimd-psum]: nisa.tensor_tensor: the GpSimd Engine cannot reach PSUM, but 'data1' is in PSUM
// CHECK: error[gpsimd-psum]: nisa.tensor_tensor: the GpSimd Engine cannot reach PSUM, but 'data2' is in PSUM
nki.kernel @tensor_tensor_power_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_tensor dst=%far, data1=%tile, data2=%tile, op=power
  nisa.tensor_tensor dst=%tile, data1=%far, data2=%tile, op=power
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%far, op=power
  nki.return
}

// Each operand in turn has fewer partitions than the others.
// CHECK: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 128, 'data2' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%few, data1=%tile, data2=%tile, op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data1: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data2: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %few, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read tile[0:64] only
// CHECK: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 64, 'data2' has 128, 'dst' has 128
// CHECK: error[partitions-match]: nisa.tensor_tensor: different numbers of partitions: 'data1' has 128, 'data2' has 64, 'dst' has 128
nki.kernel @tensor_tensor_partitions() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%few, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%few, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%few, op=add
  nki.return
}

// Each operand in turn has fewer elements per partition; a column is not broadcast here.
// CHECK: error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 64, 'data2' has 64, 'dst' has 1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%narrow, data1=%tile, data2=%tile, op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data1: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data2: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %narrow, sbuf 128x1 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, tile[:, 0:1], or allocate 'dst' with 64 elements per partition
// CHECK: error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 1, 'data2' has 64, 'dst' has 64
// CHECK: error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 64, 'data2' has 1, 'dst' has 64
nki.kernel @tensor_tensor_free_size() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%narrow, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%narrow, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%narrow, op=add
  nki.return
}

// Each operand in turn is of a packed type, which engines do not convert, not even to itself.
// CHECK: error[dtype-computable]: nisa.tensor_tensor: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%packed, data1=%tile, data2=%tile, op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed, sbuf 128x64 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.tensor_tensor: engines do not convert 'data1', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.tensor_tensor: engines do not convert 'data2', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.tensor_tensor: engines do not convert 'dst', a float8_e5m2_x4
nki.kernel @tensor_tensor_packed() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.tensor_tensor dst=%packed, data1=%tile, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%packed, data2=%tile, op=add
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%packed, op=add
  nisa.tensor_tensor dst=%packed, data1=%packed, data2=%packed, op=add
  nki.return
}

// Each operand in turn is of a float type under a bitvec operator.
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: 'data1' must be of an integer type, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%words, data1=%other, data2=%words, op=bitwise_or
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data1: %other, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: use nl.logical_or for values that are true or false; for bit patterns view the tile as an integer type of the same width, e.g. other.view(nl.int32)
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: 'data2' must be of an integer type, it is float32
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: 'dst' must be of an integer type, it is float32
nki.kernel @tensor_tensor_bitvec_float() target=trn3 {
  %words = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%words, data1=%other, data2=%words, op=bitwise_or
  nisa.tensor_tensor dst=%words, data1=%words, data2=%other, op=bitwise_or
  nisa.tensor_tensor dst=%other, data1=%words, data2=%words, op=bitwise_or
  nki.return
}

// A bitvec operator between integers of 16 and of 8 bits.
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: integers of different widths: 'data1' is int16, 'data2' is int8, 'dst' is uint16
nki.kernel @tensor_tensor_bitvec_widths() target=trn3 {
  %dst = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %a = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi8, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=left_shift
  nki.return
}

// A boolean is stored in an integer but is not one.
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: 'data1' must be of an integer type, it is bool_
nki.kernel @tensor_tensor_bitvec_boolean() target=trn3 {
  %dst = nki.alloc : memref<128x64xi1, #nki.sbuf>
  %a = nki.alloc : memref<128x64xi1, #nki.sbuf>
  %b = nki.alloc : memref<128x64xi1, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=bitwise_and
  nki.return
}

// The Scalar Engine, or the Tensor Engine, is asked for.
// CHECK: error[engine]: nisa.tensor_tensor: the instruction runs on vector or gpsimd, not on scalar
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add, engine=scalar
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave engine= out, or pass one that the message lists
// CHECK: error[engine]: nisa.tensor_tensor: the instruction runs on vector or gpsimd, not on tensor
nki.kernel @tensor_tensor_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add, engine=scalar
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=add, engine=tensor
  nki.return
}

// nl.power is asked for on the Vector Engine.
// CHECK: error[engine-operator]: nisa.tensor_tensor: nl.power runs on the GpSimd Engine, 'engine' is vector
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=power, engine=vector
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave engine= out, or pass the operator to another engine, e.g. engine=nisa.engine.vector
nki.kernel @tensor_tensor_power_vector() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=power, engine=vector
  nki.return
}

// -------------------- nisa.tensor_scalar

// 'op0', then 'op1', is not an ALU operator.
// CHECK: error[alu-operator]: nisa.tensor_scalar: 'op0' is nl.gelu, which is not an ALU operator
// CHECK: error[alu-operator]: nisa.tensor_scalar: 'op1' is nl.tanh, which is not an ALU operator
nki.kernel @tensor_scalar_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=gelu, operand0=%two
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=tanh
  nki.return
}

// nl.bypass is for activate2; here one operator always computes.
// CHECK: error[alu-operator]: nisa.tensor_scalar: 'op1' is nl.bypass, which is not an ALU operator
nki.kernel @tensor_scalar_bypass() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=bypass
  nki.return
}

// nl.relu and nl.square are ALU operators from NeuronCore-v4 on.
// CHECK: error[operator-generation]: nisa.tensor_scalar: 'op0' is nl.relu, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK: error[operator-generation]: nisa.tensor_scalar: 'op1' is nl.square, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @tensor_scalar_generation() target=trn2 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=relu
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=square
  nki.return
}

// A bitvec operator and an arithmetic one in one instruction.
// CHECK: error[operators-same-kind]: nisa.tensor_scalar: 'op0' is bitvec (nl.bitwise_and), 'op1' is arithmetic (nl.add)
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, op1=add, operand1=%three
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: split the instruction in two
nki.kernel @tensor_scalar_kinds() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, op1=add, operand1=%three
  nki.return
}

// A binary operator lacks its operand, or 'operand1' comes without 'op1'.
// CHECK: error[op-with-operand]: nisa.tensor_scalar: 'op0' is nl.add, which needs 'operand0'
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: give both, or leave both out
// CHECK: error[op-with-operand]: nisa.tensor_scalar: 'op1' is nl.multiply, which needs 'operand1'
// CHECK: error[op-with-operand]: nisa.tensor_scalar: 'operand1' is given, but 'op1' is not
nki.kernel @tensor_scalar_operands() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=multiply
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, operand1=%two
  nki.return
}

// A unary operator has an operand other than 0: a number, a tile, 'operand1'.
// CHECK: error[unary-operand]: nisa.tensor_scalar: 'op0' is nl.abs, which takes no operand, but 'operand0' is 2.0
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=abs, operand0=%operand
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the operand out, or pass op0=nl.add with the operand and the unary operator as op1
// CHECK: error[unary-operand]: nisa.tensor_scalar: 'op0' is nl.reciprocal, which takes no operand, but 'operand0' is a tile
// CHECK: error[unary-operand]: nisa.tensor_scalar: 'op1' is nl.abs, which takes no operand, but 'operand1' is 2.0
nki.kernel @tensor_scalar_unary() target=trn3 {
  %operand = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, operand0=%operand
  nisa.tensor_scalar dst=%dst, data=%data, op0=reciprocal, operand0=%column
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column, op1=abs, operand1=%operand
  nki.return
}

// 'reverse1' is set without 'op1'.
// CHECK: error[reverse-needs-op]: nisa.tensor_scalar: 'reverse1' is True, but 'op1' is not set
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, reverse1=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: set the operator, or leave the reverse flag out
nki.kernel @tensor_scalar_reverse1() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, reverse1=true
  nki.return
}

// 'reverse0' has nothing to reverse; nl.bypass as 'op0' is a mistake of its own.
// CHECK: error[alu-operator]: nisa.tensor_scalar: 'op0' is nl.bypass, which is not an ALU operator
// CHECK: error[reverse-needs-op]: nisa.tensor_scalar: 'reverse0' is True, but 'op0' is not set
nki.kernel @tensor_scalar_reverse0() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bypass, operand0=%two, reverse0=true
  nki.return
}

// 'operand0' has too few rows, 'operand1' two elements in each.
// CHECK: error[column]: nisa.tensor_scalar: 'operand0' must have shape (128, 1), one element for each partition of 'data', it is 64x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column0
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = operand0: %column0, sbuf 64x1 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a number, or a tile with one element per partition, e.g. t[:, 0:1]
// CHECK: error[column]: nisa.tensor_scalar: 'operand1' must have shape (128, 1), one element for each partition of 'data', it is 128x2
nki.kernel @tensor_scalar_columns() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column0 = nki.alloc : memref<64x1xf32, #nki.sbuf>
  %column1 = nki.alloc : memref<128x2xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column0
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%column1
  nki.return
}

// An operand of a packed type is not float32 either, so both is said.
// CHECK: error[dtype-computable]: nisa.tensor_scalar: engines do not convert 'operand0', a float4_e2m1fn_x4
// CHECK: error[dtype]: nisa.tensor_scalar: with an arithmetic operator 'operand0' must be float32, it is float4_e2m1fn_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = operand0: %column, sbuf 128x1 float4_e2m1fn_x4, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype-computable]: nisa.tensor_scalar: engines do not convert 'operand1', a float4_e2m1fn_x4
// CHECK: error[dtype]: nisa.tensor_scalar: with an arithmetic operator 'operand1' must be float32, it is float4_e2m1fn_x4
nki.kernel @tensor_scalar_packed_operands() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1x!nki.f4E2M1FNx4, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%column
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%column
  nki.return
}

// Each operand in turn is of a float type under a bitvec operator.
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'dst' must be of an integer type, it is float32
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'data' must be of an integer type, it is float32
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'operand0' must be of an integer type, it is float32
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'operand1' must be of an integer type, it is float32
nki.kernel @tensor_scalar_bitvec_float() target=trn3 {
  %three = arith.constant 3 : i32
  %tile = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%other, data=%tile, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%tile, data=%other, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%tile, data=%tile, op0=bitwise_and, operand0=%column
  nisa.tensor_scalar dst=%tile, data=%tile, op0=bitwise_and, operand0=%three, op1=bitwise_or, operand1=%column
  nki.return
}

// 'operand0', then 'operand1', is the float 3.0 under a bitvec operator.
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'operand0' must be an integer, it is 3.0
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: 'operand1' must be an integer, it is 3.0
nki.kernel @tensor_scalar_bitvec_number() target=trn3 {
  %one = arith.constant 1 : i32
  %three = arith.constant 3.0 : f32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%one, op1=left_shift, operand1=%three
  nki.return
}

// A bitvec operator from 16 to 32 bits.
// CHECK: error[bitvec-dtype]: nisa.tensor_scalar: integers of different widths: 'data' is int16, 'dst' is int32
nki.kernel @tensor_scalar_bitvec_widths() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three
  nki.return
}

// The Scalar Engine does not subtract, nor add and then multiply.
// CHECK: error[engine-operator]: nisa.tensor_scalar: the Scalar Engine runs nl.multiply then nl.add, nl.multiply, or nl.add; the operators are nl.subtract
// CHECK: error[engine-operator]: nisa.tensor_scalar: the Scalar Engine runs nl.multiply then nl.add, nl.multiply, or nl.add; the operators are nl.add then nl.multiply
nki.kernel @tensor_scalar_scalar_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=subtract, operand0=%two, engine=scalar
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=multiply, operand1=%two, engine=scalar
  nki.return
}

// The GpSimd Engine has nl.rsqrt here and nothing else.
// CHECK: error[engine-operator]: nisa.tensor_scalar: the GpSimd Engine runs nl.rsqrt only; the operators are nl.abs
nki.kernel @tensor_scalar_gpsimd_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, engine=gpsimd
  nki.return
}

// The Vector Engine has no nl.rsqrt.
// CHECK: error[engine-operator]: nisa.tensor_scalar: nl.rsqrt runs on the GpSimd Engine, 'engine' is vector
nki.kernel @tensor_scalar_vector_engine() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=rsqrt, engine=vector
  nki.return
}

// Bitvec operators run on the Vector Engine only.
// CHECK: error[engine-operator]: nisa.tensor_scalar: the Scalar Engine runs nl.multiply then nl.add, nl.multiply, or nl.add; the operators are nl.bitwise_and
// CHECK: error[engine-operator]: nisa.tensor_scalar: the GpSimd Engine runs nl.rsqrt only; the operators are nl.bitwise_and
nki.kernel @tensor_scalar_bitvec_engine() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, engine=scalar
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%three, engine=gpsimd
  nki.return
}

// -------------------- nisa.scalar_tensor_tensor

// 'op0', then 'op1', is a bitvec operator; the types are integers, and still.
// CHECK: error[alu-operator]: nisa.scalar_tensor_tensor: 'op0' must be arithmetic, nl.bitwise_and is bitvec
// CHECK: error[alu-operator]: nisa.scalar_tensor_tensor: 'op1' must be arithmetic, nl.left_shift is bitvec
nki.kernel @scalar_tensor_tensor_bitvec() target=trn3 {
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=bitwise_and, operand0=%three, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%three, op1=left_shift, operand1=%other
  nki.return
}

// 'op0' takes one operand; 'op1' is no ALU operator.
// CHECK: error[alu-operator]: nisa.scalar_tensor_tensor: 'op0' is nl.abs, an operator of one operand
// CHECK: error[alu-operator]: nisa.scalar_tensor_tensor: 'op1' is nl.bypass, which is not an ALU operator
nki.kernel @scalar_tensor_tensor_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=abs, operand0=%two, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=bypass, operand1=%other
  nki.return
}

// nl.abs_max and nl.abs_min are new in NeuronCore-v4.
// CHECK: error[operator-generation]: nisa.scalar_tensor_tensor: 'op0' is nl.abs_max, an operator of NeuronCore-v4, the target trn1 is NeuronCore-v2
// CHECK: error[operator-generation]: nisa.scalar_tensor_tensor: 'op1' is nl.abs_min, an operator of NeuronCore-v4, the target trn1 is NeuronCore-v2
nki.kernel @scalar_tensor_tensor_generation() target=trn1 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=abs_max, operand0=%two, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=abs_min, operand1=%other
  nki.return
}

// What accumulators reduce with, and what they can be told.
// CHECK: error[reduce-op]: nisa.scalar_tensor_tensor: 'reduce_op' must be nl.add, nl.multiply, nl.maximum or nl.minimum, it is nl.subtract
// CHECK: error[reduce-cmd]: nisa.scalar_tensor_tensor: 'reduce_cmd' must be idle, reset_reduce or reduce, it is load_reduce
nki.kernel @scalar_tensor_tensor_reduction() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_op=subtract, reduce_res=%sum
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_cmd=load_reduce, reduce_op=add, reduce_res=%sum
  nki.return
}

// A reduction comes without its operator.
// CHECK: error[reduce-cmd-needs-op]: nisa.scalar_tensor_tensor: 'reduce_res' is given, but 'reduce_op' is not given
// CHECK: error[reduce-cmd-needs-op]: nisa.scalar_tensor_tensor: 'reduce_cmd' is reduce, but 'reduce_op' is not given
nki.kernel @scalar_tensor_tensor_reduction_without_op() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_res=%sum
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=add, operand0=%two, op1=add, operand1=%other, reduce_cmd=reduce
  nki.return
}

// -------------------- nisa.tensor_scalar_reduce

// The operator is a bitvec one, an activation function, or bypass.
// CHECK: error[alu-operator]: nisa.tensor_scalar_reduce: 'op0' must be arithmetic, nl.bitwise_and is bitvec
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=bitwise_and, operand0=%two, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
// CHECK: error[alu-operator]: nisa.tensor_scalar_reduce: 'op0' is nl.gelu, which is not an ALU operator
// CHECK: error[alu-operator]: nisa.tensor_scalar_reduce: 'op0' is nl.bypass, which is not an ALU operator
nki.kernel @tensor_scalar_reduce_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=bitwise_and, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=gelu, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=bypass, operand0=%two, reduce_op=add
  nki.return
}

// nl.abs_max and the unary nl.square are new in NeuronCore-v4.
// CHECK: error[operator-generation]: nisa.tensor_scalar_reduce: 'op0' is nl.abs_max, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs_max, operand0=%two, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another operator, or trace for a newer target with platform_target=
// CHECK: error[operator-generation]: nisa.tensor_scalar_reduce: 'op0' is nl.square, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @tensor_scalar_reduce_generation() target=trn2 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs_max, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=square, reduce_op=add
  nki.return
}

// A binary operator without its operand.
// CHECK: error[op-with-operand]: nisa.tensor_scalar_reduce: 'op0' is nl.add, which needs 'operand0'
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: give both, or leave both out
nki.kernel @tensor_scalar_reduce_no_operand() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, reduce_op=add
  nki.return
}

// A unary operator with a number that is not 0, or a tile.
// CHECK: error[unary-operand]: nisa.tensor_scalar_reduce: 'op0' is nl.abs, which takes no operand, but 'operand0' is 2.0
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs, operand0=%two, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the operand out, or pass op0=nl.add with the operand and the unary operator as op1
// CHECK: error[unary-operand]: nisa.tensor_scalar_reduce: 'op0' is nl.reciprocal, which takes no operand, but 'operand0' is a tile
nki.kernel @tensor_scalar_reduce_unary() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=abs, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=reciprocal, operand0=%column, reduce_op=add
  nki.return
}

// 'reverse0' is documented as not supported yet.
// CHECK: error[not-reversible]: nisa.tensor_scalar_reduce: 'reverse0' is True
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=subtract, operand0=%two, reduce_op=add, reverse0=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: run nisa.tensor_scalar with reverse0=True first, and reduce its result
nki.kernel @tensor_scalar_reduce_reversed() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=subtract, operand0=%two, reduce_op=add, reverse0=true
  nki.return
}

// 'operand0', then 'reduce_init', is bfloat16.
// CHECK: error[dtype]: nisa.tensor_scalar_reduce: 'operand0' must be float32, it is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%narrow_column, reduce_op=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = operand0: %narrow_column, sbuf 128x1 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.tensor_scalar_reduce: 'reduce_init' must be float32, it is bfloat16
nki.kernel @tensor_scalar_reduce_operand_dtypes() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %narrow_column = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%narrow_column, reduce_op=add
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce, reduce_init=%narrow_column
  nki.return
}

// Reductions that the accumulators of the Vector Engine do not have here.
// CHECK: error[reduce-op]: nisa.tensor_scalar_reduce: 'reduce_op' must be nl.add, nl.multiply, nl.maximum or nl.minimum, it is nl.subtract
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=subtract
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
// CHECK: error[reduce-op]: nisa.tensor_scalar_reduce: 'reduce_op' must be nl.add, nl.multiply, nl.maximum or nl.minimum, it is nl.abs_max
nki.kernel @tensor_scalar_reduce_reduce_op() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=subtract
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=abs_max
  nki.return
}

// The instruction always reduces.
// CHECK: error[reduce-cmd]: nisa.tensor_scalar_reduce: 'reduce_cmd' must be reset_reduce, reduce or load_reduce, it is idle
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=idle
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
// CHECK: error[reduce-cmd]: nisa.tensor_scalar_reduce: 'reduce_cmd' must be reset_reduce, reduce or load_reduce, it is reset
nki.kernel @tensor_scalar_reduce_reduce_cmd() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=idle
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=reset
  nki.return
}

// 'reduce_init' is given, be it 0, without load_reduce.
// CHECK: error[reduce-init]: nisa.tensor_scalar_reduce: 'reduce_init' is given, but 'reduce_cmd' is reset_reduce
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_init=%zero
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.load_reduce, or leave reduce_init out
// CHECK: error[reduce-init]: nisa.tensor_scalar_reduce: 'reduce_init' is given, but 'reduce_cmd' is reset_reduce
nki.kernel @tensor_scalar_reduce_reduce_init() target=trn3 {
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_init=%zero
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_init=%column
  nki.return
}

// load_reduce without a value to load.
// CHECK: error[load-needs-init]: nisa.tensor_scalar_reduce: 'reduce_cmd' is load_reduce, but 'reduce_init' is not given
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass the initial value (reduce_init= or imm1=), or reduce_cmd=nisa.reduce_cmd.reset_reduce
nki.kernel @tensor_scalar_reduce_load() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_cmd=load_reduce
  nki.return
}

// -------------------- nisa.tensor_scalar_cumulative

// The first operator is a bitvec one, an activation function, or bypass.
// CHECK: error[alu-operator]: nisa.tensor_scalar_cumulative: 'op0' must be arithmetic, nl.bitwise_or is bitvec
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=bitwise_or, op1=add, imm0=%two
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
// CHECK: error[alu-operator]: nisa.tensor_scalar_cumulative: 'op0' is nl.tanh, which is not an ALU operator
// CHECK: error[alu-operator]: nisa.tensor_scalar_cumulative: 'op0' is nl.bypass, which is not an ALU operator
nki.kernel @tensor_scalar_cumulative_operator() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=bitwise_or, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=tanh, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=bypass, op1=add, imm0=%two
  nki.return
}

// nl.abs_min is new in NeuronCore-v4.
// CHECK: error[operator-generation]: nisa.tensor_scalar_cumulative: 'op0' is nl.abs_min, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs_min, op1=add, imm0=%two
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another operator, or trace for a newer target with platform_target=
nki.kernel @tensor_scalar_cumulative_generation() target=trn2 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs_min, op1=add, imm0=%two
  nki.return
}

// A unary operator with a number that is not 0, or a tile.
// CHECK: error[unary-operand]: nisa.tensor_scalar_cumulative: 'op0' is nl.abs, which takes no operand, but 'imm0' is 2.0
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs, op1=add, imm0=%two
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the operand out, or pass op0=nl.add with the operand and the unary operator as op1
// CHECK: error[unary-operand]: nisa.tensor_scalar_cumulative: 'op0' is nl.abs, which takes no operand, but 'imm0' is a tile
nki.kernel @tensor_scalar_cumulative_unary() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=abs, op1=add, imm0=%column
  nki.return
}

// The second operator is not one of the five running reductions.
// CHECK: error[reduce-op]: nisa.tensor_scalar_cumulative: 'op1' must be nl.add, nl.subtract, nl.multiply, nl.maximum or nl.minimum, it is nl.logical_or
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=logical_or, imm0=%two
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with nisa.tensor_reduce afterwards
// CHECK: error[reduce-op]: nisa.tensor_scalar_cumulative: 'op1' must be nl.add, nl.subtract, nl.multiply, nl.maximum or nl.minimum, it is nl.bypass
nki.kernel @tensor_scalar_cumulative_reduction() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=logical_or, imm0=%two
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=bypass, imm0=%two
  nki.return
}

// The instruction always reduces.
// CHECK: error[reduce-cmd]: nisa.tensor_scalar_cumulative: 'reduce_cmd' must be reset_reduce, reduce or load_reduce, it is idle
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=idle
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
// CHECK: error[reduce-cmd]: nisa.tensor_scalar_cumulative: 'reduce_cmd' must be reset_reduce, reduce or load_reduce, it is reset
nki.kernel @tensor_scalar_cumulative_reduce_cmd() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=idle
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=reset
  nki.return
}

// load_reduce without a value to load.
// CHECK: error[load-needs-init]: nisa.tensor_scalar_cumulative: 'reduce_cmd' is load_reduce, but 'imm1' is not given
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=load_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass the initial value (reduce_init= or imm1=), or reduce_cmd=nisa.reduce_cmd.reset_reduce
nki.kernel @tensor_scalar_cumulative_load() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, reduce_cmd=load_reduce
  nki.return
}

// -------------------- arguments without effect

// An operator of one operand has nothing to reverse.
// CHECK: warning[no-effect]: nisa.tensor_scalar: 'reverse0' has no effect, as 'op0' is nl.abs, an operator of one operand
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%dst, data=%data, op0=abs, reverse0=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator of two operands as op0, e.g. nl.subtract, or leave reverse0 out
// CHECK: warning[no-effect]: nisa.tensor_scalar: 'reverse1' has no effect, as 'op1' is nl.reciprocal, an operator of one operand
nki.kernel @tensor_scalar_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, reverse0=true
  nisa.tensor_scalar dst=%dst, data=%data, op0=add, operand0=%two, op1=reciprocal, reverse1=true
  nki.return
}

// With idle nothing is reduced.
// CHECK: warning[no-effect]: nisa.scalar_tensor_tensor: 'reduce_op' has no effect, as 'reduce_cmd' is idle
// CHECK: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce, or leave reduce_op out
nki.kernel @scalar_tensor_tensor_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.scalar_tensor_tensor dst=%tile, data=%tile, op0=add, operand0=%two, op1=add, operand1=%tile, reduce_cmd=idle, reduce_op=add
  nki.return
}

// What is negated is only what 'reduce_res' receives.
// CHECK: warning[no-effect]: nisa.tensor_scalar_reduce: 'reduce_res_negate' has no effect, as 'reduce_res' is not given
// CHECK: = help: pass reduce_res=, or leave reduce_res_negate out
nki.kernel @tensor_scalar_reduce_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_reduce dst=%tile, data=%tile, op0=add, operand0=%two, reduce_op=add, reduce_res_negate=true
  nki.return
}

// An initial value is given, but the accumulators are reset.
// CHECK: warning[no-effect]: nisa.tensor_scalar_cumulative: 'imm1' has no effect, as 'reduce_cmd' is reset_reduce
// CHECK: = help: pass reduce_cmd=nisa.reduce_cmd.load_reduce, or leave imm1 out
nki.kernel @tensor_scalar_cumulative_no_effect() target=trn3 {
  %two = arith.constant 2.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%tile, src=%tile, op0=multiply, op1=add, imm0=%two, imm1=%two
  nki.return
}

// CHECK: 102 errors and 5 warnings
