// RUN: not nkijit-opt -p verify %s 2>&1 | filecheck --match-full-lines %s
// RUN: not nkijit verify %s | filecheck --match-full-lines %s

// verify runs all verification passes and reports everything in one go. The command does the same.

// Where nothing is wrong, no pass says anything, and none changes the IR.
// RUN: nkijit-opt %S/../dialects/nisa/movement/valid.mlir > %t.before
// RUN: nkijit-opt -p verify-buffers,verify-shapes,verify-dtypes,verify-operators,verify-target,verify-access,verify-instructions,verify-accumulators,verify-constants %S/../dialects/nisa/movement/valid.mlir > %t.after
// RUN: diff %t.before %t.after
// RUN: xdsl-opt -p verify-instructions %S/../dialects/nisa/movement/valid.mlir > %t.plugin
// RUN: diff %t.before %t.plugin

// By kernel, instruction and rule, whatever the category ...
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 256
// CHECK: error[buffer]: nisa.tensor_tensor: 'data1' must be in sbuf or psum, it is in private_hbm
// CHECK: error[free-size-match]: nisa.tensor_tensor: different numbers of elements per partition: 'data1' has 64, 'data2' has 1, 'dst' has 64
// CHECK: error[dtype-computable]: nisa.tensor_tensor: engines do not convert 'dst', a float8_e5m2_x4
// CHECK: error[engine]: nisa.tensor_tensor: the instruction runs on vector or gpsimd, not on scalar
// CHECK: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
nki.kernel @first(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %tall = nki.alloc : memref<256x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  nisa.memset dst=%column, value=0
  nisa.tensor_tensor dst=%packed, data1=%x, data2=%column, op=add, engine=scalar
  nisa.activation dst=%tile, op=add, data=%tile
  nki.return
}

nki.kernel @without_mistakes() target=trn3 {
  nki.return
}

// ... and behind them what follows from the order of the instructions. (The command sorts by line.)
// CHECK-DAG: error[generation]: nisa.exponential: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-DAG: error[accumulator-undefined]: nisa.activation: reduce_cmd.reduce continues on the accumulators of the Scalar Engine, which are undefined at the start of a kernel
// CHECK-DAG: error[read-unwritten]: nisa.activation: 'data' is read, but nothing has written it
nki.kernel @second() target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%tile, op=exp, data=%tile, reduce_op=add, reduce_cmd=reduce
  nisa.exponential dst=%tile, src=%tile
  nki.return
}

// CHECK: 9 errors
