// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// tensor_tensor: the Vector Engine, but nl.power and all-int32 arithmetic outside PSUM go to the
// GpSimd Engine, unless the author names an engine.
// CHECK: kernel tensor_tensor, trn3 (NeuronCore-v4)
// CHECK-NEXT: 11 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 384 of 245752 bytes per partition, PSUM 128 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 8 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:32, float32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=i[sbuf 128, 0:32, 1:32, int32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=u[sbuf 256, 0:32, 1:32, uint32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 TENSOR_TENSOR dst=x[sbuf 0, 0:32, 1:32, float32], data1=x[sbuf 0, 0:32, 1:32, float32], data2=x[sbuf 0, 0:32, 1:32, float32], op=add signal(1) elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 wait(gpsimd>=1) TENSOR_TENSOR dst=x[sbuf 0, 0:32, 1:32, float32], data1=i[sbuf 128, 0:32, 1:32, int32], data2=i[sbuf 128, 0:32, 1:32, int32], op=add signal(2) elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 TENSOR_TENSOR dst=i[sbuf 128, 0:32, 1:32, int32], data1=i[sbuf 128, 0:32, 1:32, int32], data2=i[sbuf 128, 0:32, 1:32, int32], op=bitwise_or elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 TENSOR_TENSOR dst=p[psum 0, 0:32, 1:32, int32], data1=i[sbuf 128, 0:32, 1:32, int32], data2=i[sbuf 128, 0:32, 1:32, int32], op=add elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 TENSOR_TENSOR dst=i[sbuf 128, 0:32, 1:32, int32], data1=i[sbuf 128, 0:32, 1:32, int32], data2=i[sbuf 128, 0:32, 1:32, int32], op=add elementwise.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 3 instructions
// CHECK-NEXT: 4 wait(vector>=1) TENSOR_TENSOR dst=x[sbuf 0, 0:32, 1:32, float32], data1=x[sbuf 0, 0:32, 1:32, float32], data2=x[sbuf 0, 0:32, 1:32, float32], op=power elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 TENSOR_TENSOR dst=i[sbuf 128, 0:32, 1:32, int32], data1=i[sbuf 128, 0:32, 1:32, int32], data2=u[sbuf 256, 0:32, 1:32, uint32], op=add signal(1) elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 wait(vector>=2) TENSOR_TENSOR dst=x[sbuf 0, 0:32, 1:32, float32], data1=x[sbuf 0, 0:32, 1:32, float32], data2=x[sbuf 0, 0:32, 1:32, float32], op=add elementwise.mlir:{{[0-9]+}}
nki.kernel @tensor_tensor() target=trn3 {
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %i = nki.alloc : memref<32x32xi32, #nki.sbuf>
  %u = nki.alloc : memref<32x32xui32, #nki.sbuf>
  %p = nki.alloc : memref<32x32xi32, #nki.psum>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%i, value=0
  nisa.memset dst=%u, value=0
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=add
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=power
  nisa.tensor_tensor dst=%i, data1=%i, data2=%u, op=add
  nisa.tensor_tensor dst=%x, data1=%i, data2=%i, op=add
  nisa.tensor_tensor dst=%i, data1=%i, data2=%i, op=bitwise_or
  nisa.tensor_tensor dst=%p, data1=%i, data2=%i, op=add
  nisa.tensor_tensor dst=%i, data1=%i, data2=%i, op=add, engine=vector
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=add, engine=gpsimd
  nki.return
}

// tensor_scalar: the Vector Engine, but nl.rsqrt goes to the GpSimd Engine.
// CHECK: kernel tensor_scalar, trn3 (NeuronCore-v4)
// CHECK-NEXT: 5 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 128 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:32, float32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 TENSOR_SCALAR dst=x[sbuf 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=1, op0=add, reverse0=true signal(1) elementwise.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 2 instructions
// CHECK-NEXT: 2 wait(vector>=1) TENSOR_SCALAR dst=x[sbuf 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], op0=rsqrt elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 TENSOR_SCALAR dst=x[sbuf 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=1, op0=add, op1=rsqrt signal(1) elementwise.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 1 instruction
// CHECK-NEXT: 4 wait(gpsimd>=1) TENSOR_SCALAR dst=x[sbuf 0, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=1, op0=add elementwise.mlir:{{[0-9]+}}
nki.kernel @tensor_scalar() target=trn3 {
  %one = arith.constant 1 : i32
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, reverse0=true
  nisa.tensor_scalar dst=%x, data=%x, op0=rsqrt
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, op1=rsqrt
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, engine=scalar
  nki.return
}

// What only the Vector Engine has. A reduction is read out of the accumulators where it is asked for.
// CHECK: kernel others, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 264 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 8 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:32, 1:32, float32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=column[sbuf 128, 0:32, 1:1, float32], value=0 elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 SCALAR_TENSOR_TENSOR dst=y[sbuf 132, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=column[sbuf 128, 0:32, 1:1, float32], operand1=x[sbuf 0, 0:32, 1:32, float32], op0=add, op1=multiply elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 RECIPROCAL dst=y[sbuf 132, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32] elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 TENSOR_SCALAR_CUMULATIVE dst=y[sbuf 132, 0:32, 1:32, float32], src=x[sbuf 0, 0:32, 1:32, float32], imm0=2.0, op0=multiply, op1=add elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 TENSOR_SCALAR_REDUCE dst=y[sbuf 132, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=2.0, op0=multiply, reduce_op=add elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 READ_ACCUMULATORS reduce_res=sum[sbuf 260, 0:32, 1:1, float32] elementwise.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 TENSOR_SCALAR_REDUCE dst=y[sbuf 132, 0:32, 1:32, float32], data=x[sbuf 0, 0:32, 1:32, float32], operand0=2.0, op0=multiply, reduce_op=add elementwise.mlir:{{[0-9]+}}
nki.kernel @others() target=trn3 {
  %two = arith.constant 2.0 : f32
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %y = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %column = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<32x1xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%column, value=0
  nisa.scalar_tensor_tensor dst=%y, data=%x, op0=add, operand0=%column, op1=multiply, operand1=%x
  nisa.reciprocal dst=%y, data=%x
  nisa.tensor_scalar_cumulative dst=%y, src=%x, op0=multiply, op1=add, imm0=%two
  nisa.tensor_scalar_reduce dst=%y, data=%x, op0=multiply, operand0=%two, reduce_op=add, reduce_res=%sum
  nisa.tensor_scalar_reduce dst=%y, data=%x, op0=multiply, operand0=%two, reduce_op=add
  nki.return
}
