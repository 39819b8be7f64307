// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the Scalar Engine's activations: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @activation() target=trn3 {
nki.kernel @activation() target=trn3 {
  %half = arith.constant 0.5 : f32
  %three = arith.constant 3 : i32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.activation dst=%dst, op=exp, data=%data
  nisa.activation dst=%dst, op=exp, data=%data
  // Numbers, also integers, as per-partition operands.
  // CHECK-NEXT: nisa.activation dst=%dst, op=gelu_apprx_tanh, data=%data, bias=%half, scale=%three
  nisa.activation dst=%dst, op=gelu_apprx_tanh, data=%data, bias=%half, scale=%three
  // Tiles.
  // CHECK-NEXT: nisa.activation dst=%dst, op=gelu, data=%data, bias=%column, scale=%column
  nisa.activation dst=%dst, op=gelu, data=%data, bias=%column, scale=%column
  // One optional operand without the one before it.
  // CHECK-NEXT: nisa.activation dst=%dst, op=copy, data=%data, scale=%half
  nisa.activation dst=%dst, op=copy, data=%data, scale=%half
  // All arguments.
  // CHECK-NEXT: nisa.activation dst=%dst, op=square, data=%data, bias=%column, scale=%half, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce, name="squares"
  nisa.activation dst=%dst, op=square, data=%data, bias=%column, scale=%half, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce, name="squares"
  // Arguments in another order are printed in the order of the signature.
  // CHECK-NEXT: nisa.activation dst=%dst, op=exp, data=%data, reduce_op=add, reduce_cmd=reduce, name="reordered"
  nisa.activation name="reordered", reduce_cmd=reduce, data=%data, reduce_op=add, op=exp, dst=%dst
  // Only the last of the optional operands: the accumulators are read out.
  // CHECK-NEXT: nisa.activation dst=%dst, op=copy, data=%data, reduce_res=%sum
  nisa.activation dst=%dst, op=copy, data=%data, reduce_res=%sum
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @activation_reduce() target=trn3 {
nki.kernel @activation_reduce() target=trn3 {
  %half = arith.constant 0.5 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.psum>
  // The fewest arguments: the sum stays in the accumulators.
  // CHECK: nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add
  // CHECK-NEXT: nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add, reduce_res=%sum
  nisa.activation_reduce dst=%dst, op=exp, data=%data, reduce_op=add, reduce_res=%sum
  // A number and a tile.
  // CHECK-NEXT: nisa.activation_reduce dst=%dst, op=sigmoid, data=%data, reduce_op=add, bias=%half, scale=%column
  nisa.activation_reduce dst=%dst, op=sigmoid, data=%data, reduce_op=add, bias=%half, scale=%column
  // All arguments.
  // CHECK-NEXT: nisa.activation_reduce dst=%dst, op=sigmoid, data=%data, reduce_op=add, reduce_res=%sum, bias=%column, scale=%half, name="sigmoids"
  nisa.activation_reduce dst=%dst, op=sigmoid, data=%data, reduce_op=add, reduce_res=%sum, bias=%column, scale=%half, name="sigmoids"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @activate2() target=trn3 {
nki.kernel @activate2() target=trn3 {
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1 : i32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf16, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // The fewest arguments, and numbers.
  // CHECK: nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%two, imm1=%one, op0=multiply, op1=add
  nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%two, imm1=%one, op0=multiply, op1=add
  // Tiles.
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%column, imm1=%column, op0=multiply, op1=subtract
  nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%column, imm1=%column, op0=multiply, op1=subtract
  // A tile and a number, and no operation.
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%column, imm1=%two, op0=subtract, op1=bypass
  nisa.activate2 dst=%dst, op=gelu, data=%data, imm0=%column, imm1=%two, op0=subtract, op1=bypass
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=copy, data=%data, imm0=%one, imm1=%one, op0=bypass, op1=bypass
  nisa.activate2 dst=%dst, op=copy, data=%data, imm0=%one, imm1=%one, op0=bypass, op1=bypass
  // A parametric function, its parameter a number and a tile.
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=add, op1=bypass, relu_param=%two
  nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=add, op1=bypass, relu_param=%two
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=add, op1=bypass, relu_param=%column
  nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=add, op1=bypass, relu_param=%column
  // All arguments.
  // CHECK-NEXT: nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=subtract, relu_param=%column, reverse0=true, reverse1=true, reduce_op=abs_max, reduce_res=%sum, reduce_cmd=reset_reduce, name="everything"
  nisa.activate2 dst=%dst, op=prelu, data=%data, imm0=%two, imm1=%two, op0=multiply, op1=subtract, relu_param=%column, reverse0=true, reverse1=true, reduce_op=abs_max, reduce_res=%sum, reduce_cmd=reset_reduce, name="everything"
  // CHECK-NEXT: nki.return
  nki.return
}
