// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the element-wise instructions: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @tensor_tensor() target=trn3 {
nki.kernel @tensor_tensor() target=trn3 {
  %dst = nki.alloc : memref<128x64xbf16, #nki.psum>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.psum>
  // The fewest arguments.
  // CHECK: nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=subtract
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=subtract
  // All arguments.
  // CHECK-NEXT: nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=less_equal, engine=vector, name="mask"
  nisa.tensor_tensor dst=%dst, data1=%a, data2=%b, op=less_equal, engine=vector, name="mask"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @tensor_scalar() target=trn3 {
nki.kernel @tensor_scalar() target=trn3 {
  %two = arith.constant 2.0 : f32
  %bits = arith.constant 255 : i32
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // A unary operator needs no operand, one or two of them.
  // CHECK: nisa.tensor_scalar dst=%dst, data=%data, op0=abs
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=abs, op1=reciprocal
  nisa.tensor_scalar dst=%dst, data=%data, op0=abs, op1=reciprocal
  // A number, an integer, a tile.
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=multiply, operand0=%two
  nisa.tensor_scalar dst=%dst, data=%data, op0=multiply, operand0=%two
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%bits
  nisa.tensor_scalar dst=%dst, data=%data, op0=bitwise_and, operand0=%bits
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=maximum, operand0=%column
  nisa.tensor_scalar dst=%dst, data=%data, op0=maximum, operand0=%column
  // Only the second operator has an operand.
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=rsqrt, op1=multiply, operand1=%column
  nisa.tensor_scalar dst=%dst, data=%data, op0=rsqrt, op1=multiply, operand1=%column
  // All arguments.
  // CHECK-NEXT: nisa.tensor_scalar dst=%dst, data=%data, op0=subtract, operand0=%column, reverse0=true, op1=subtract, operand1=%two, reverse1=true, engine=vector, name="both"
  nisa.tensor_scalar dst=%dst, data=%data, op0=subtract, operand0=%column, reverse0=true, op1=subtract, operand1=%two, reverse1=true, engine=vector, name="both"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @scalar_tensor_tensor() target=trn3 {
nki.kernel @scalar_tensor_tensor() target=trn3 {
  %two = arith.constant 2 : i32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // The fewest arguments; a number.
  // CHECK: nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=multiply, operand0=%two, op1=add, operand1=%other
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=multiply, operand0=%two, op1=add, operand1=%other
  // All arguments; a tile.
  // CHECK-NEXT: nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=subtract, operand0=%column, op1=power, operand1=%other, reverse0=true, reverse1=true, name="fused"
  nisa.scalar_tensor_tensor dst=%dst, data=%data, op0=subtract, operand0=%column, op1=power, operand1=%other, reverse0=true, reverse1=true, name="fused"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @reciprocal() target=trn3 {
nki.kernel @reciprocal() target=trn3 {
  %dst = nki.alloc : memref<128x64xbf16, #nki.psum>
  %data = nki.alloc : memref<128x64xi8, #nki.psum>
  // CHECK: nisa.reciprocal dst=%dst, data=%data
  nisa.reciprocal dst=%dst, data=%data
  // CHECK-NEXT: nisa.reciprocal dst=%dst, data=%data, name="inverse"
  nisa.reciprocal dst=%dst, data=%data, name="inverse"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @tensor_scalar_reduce() target=trn3 {
nki.kernel @tensor_scalar_reduce() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi8, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %total = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  // The fewest arguments: a number, or no operand.
  // CHECK: nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=multiply, operand0=%two, reduce_op=add
  nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=multiply, operand0=%two, reduce_op=add
  // CHECK-NEXT: nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=maximum
  nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=maximum
  // Each command but the default.
  // CHECK-NEXT: nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=maximum, reduce_cmd=reduce
  nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=maximum, reduce_cmd=reduce
  // CHECK-NEXT: nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=minimum, reduce_cmd=load_reduce, reduce_init=%two
  nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=abs, reduce_op=minimum, reduce_cmd=load_reduce, reduce_init=%two
  // All arguments. The rules refuse reverse0, the text has it.
  // CHECK-NEXT: nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=subtract, operand0=%column, reduce_op=multiply, reduce_res=%total, reverse0=true, reduce_cmd=load_reduce, reduce_init=%column, reduce_res_negate=true, name="total"
  nisa.tensor_scalar_reduce dst=%dst, data=%data, op0=subtract, operand0=%column, reduce_op=multiply, reduce_res=%total, reverse0=true, reduce_cmd=load_reduce, reduce_init=%column, reduce_res_negate=true, name="total"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @tensor_scalar_cumulative() target=trn3 {
nki.kernel @tensor_scalar_cumulative() target=trn3 {
  %two = arith.constant 2.0 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %src = nki.alloc : memref<128x64xi8, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=multiply, op1=add, imm0=%two
  nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=multiply, op1=add, imm0=%two
  // CHECK-NEXT: nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=multiply, op1=subtract, imm0=%column, reduce_cmd=reduce
  nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=multiply, op1=subtract, imm0=%column, reduce_cmd=reduce
  // All arguments.
  // CHECK-NEXT: nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=add, op1=maximum, imm0=%column, imm1=%two, reduce_cmd=load_reduce, name="running"
  nisa.tensor_scalar_cumulative dst=%dst, src=%src, op0=add, op1=maximum, imm0=%column, imm1=%two, reduce_cmd=load_reduce, name="running"
  // CHECK-NEXT: nki.return
  nki.return
}
