// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Scans: what the rules forbid. A kernel here breaks one rule, for one operand or argument after
// the other; where it cannot break one alone, its comment says so. The kernel of the same name
// in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.tensor_tensor_scan

// An operator is a bitvec one, takes one operand, or is bypass; first as 'op0', then as 'op1'.
// CHECK: error[alu-operator]: nisa.tensor_tensor_scan: 'op0' must be arithmetic, nl.bitwise_and is bitvec
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=bitwise_and, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation
// CHECK: error[alu-operator]: nisa.tensor_tensor_scan: 'op0' is nl.abs, an operator of one operand
// CHECK: error[alu-operator]: nisa.tensor_tensor_scan: 'op1' is nl.bypass, which is not an ALU operator
// CHECK: error[alu-operator]: nisa.tensor_tensor_scan: 'op1' must be arithmetic, nl.left_shift is bitvec
nki.kernel @tensor_tensor_scan_operators() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=bitwise_and, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=abs, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=bypass
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=left_shift
  nki.return
}

// nl.abs_max and nl.abs_min are new in NeuronCore-v4.
// CHECK: error[operator-generation]: nisa.tensor_tensor_scan: 'op0' is nl.abs_max, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=abs_max, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another operator, or trace for a newer target with platform_target=
// CHECK: error[operator-generation]: nisa.tensor_tensor_scan: 'op1' is nl.abs_min, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @tensor_tensor_scan_generation() target=trn2 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=abs_max, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=abs_min
  nki.return
}

// Each operand in turn is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.tensor_tensor_scan: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%far, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.tensor_tensor_scan: 'data0' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.tensor_tensor_scan: 'data1' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.tensor_tensor_scan: 'initial' must be in sbuf or psum, it is in shared_hbm
nki.kernel @tensor_tensor_scan_buffers() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far_column = nki.alloc : memref<128x1xf32, #nki.shared_hbm>
  nisa.tensor_tensor_scan dst=%far, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%far, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%far, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%far_column, op0=multiply, op1=add
  nki.return
}

// Both inputs are in PSUM.
// CHECK: error[both-in-psum]: nisa.tensor_tensor_scan: 'data0' and 'data1' are both in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%tile, data0=%near, data1=%near2, initial=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data0: %near, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data1: %near2, psum 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: copy one of the two to SBUF with nisa.tensor_copy first
nki.kernel @tensor_tensor_scan_both_in_psum() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %near2 = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_tensor_scan dst=%tile, data0=%near, data1=%near2, initial=%zero, op0=multiply, op1=add
  nki.return
}

// Each operand in turn has fewer partitions.
// CHECK: error[partitions-match]: nisa.tensor_tensor_scan: different numbers of partitions: 'data0' has 128, 'data1' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%few, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data0: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data1: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %few, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read tile[0:64] only
// CHECK: error[partitions-match]: nisa.tensor_tensor_scan: different numbers of partitions: 'data0' has 64, 'data1' has 128, 'dst' has 128
// CHECK: error[partitions-match]: nisa.tensor_tensor_scan: different numbers of partitions: 'data0' has 128, 'data1' has 64, 'dst' has 128
nki.kernel @tensor_tensor_scan_partitions() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%few, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%few, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%few, initial=%zero, op0=multiply, op1=add
  nki.return
}

// Each operand in turn has more elements per partition.
// CHECK: error[free-size-match]: nisa.tensor_tensor_scan: different numbers of elements per partition: 'data0' has 64, 'data1' has 64, 'dst' has 128
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%wide, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data0: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data1: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %wide, sbuf 128x128 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, wide[:, 0:64], or allocate 'dst' with 64 elements per partition
// CHECK: error[free-size-match]: nisa.tensor_tensor_scan: different numbers of elements per partition: 'data0' has 128, 'data1' has 64, 'dst' has 64
// CHECK: error[free-size-match]: nisa.tensor_tensor_scan: different numbers of elements per partition: 'data0' has 64, 'data1' has 128, 'dst' has 64
nki.kernel @tensor_tensor_scan_free_size() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %wide = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%wide, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%wide, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%wide, initial=%zero, op0=multiply, op1=add
  nki.return
}

// 'initial' has fewer rows than the data, or two elements in each.
// CHECK: error[column]: nisa.tensor_tensor_scan: 'initial' must have shape (128, 1), one element for each partition of 'data0', it is 64x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%few_column, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = initial: %few_column, sbuf 64x1 float32, allocated at {{.*}}
// CHECK-NEXT: = data0: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a number, or a tile with one element per partition, e.g. t[:, 0:1]
// CHECK: error[column]: nisa.tensor_tensor_scan: 'initial' must have shape (128, 1), one element for each partition of 'data0', it is 128x2
nki.kernel @tensor_tensor_scan_column() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few_column = nki.alloc : memref<64x1xf32, #nki.sbuf>
  %pair = nki.alloc : memref<128x2xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%few_column, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%pair, op0=multiply, op1=add
  nki.return
}

// Each operand in turn is of a packed type, which engines do not convert.
// CHECK: error[dtype-computable]: nisa.tensor_tensor_scan: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor_scan dst=%packed, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed, sbuf 128x64 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.tensor_tensor_scan: engines do not convert 'data0', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.tensor_tensor_scan: engines do not convert 'data1', a float8_e5m2_x4
// CHECK: error[dtype-computable]: nisa.tensor_tensor_scan: engines do not convert 'initial', a float8_e5m2_x4
nki.kernel @tensor_tensor_scan_packed() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed_column = nki.alloc : memref<128x1x!nki.f8E5M2x4, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%packed, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%packed, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%packed, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%packed_column, op0=multiply, op1=add
  nki.return
}

// CHECK: 23 errors
