// RUN: not nkijit verify %s -p verify-dtypes | filecheck %s

// Each constant stands beside its nearest neighbours that the type holds. A kernel with an error gets
// no advice about results that nothing reads.
nki.kernel @memset_integers() target=trn3 {
  %bytes = nki.alloc : memref<128x64xi8, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %numbers = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %fraction = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK: error[memset-dtype]: nisa.memset: 'dst' is int16, but 'value' is the float 0.5
  nisa.memset dst=%fraction, value=0.5
  nisa.memset dst=%bytes, value=127
  nisa.memset dst=%bytes, value=-128
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is int8, but 'value' is 128; the type holds -128 to 127
  // CHECK-NEXT: --> {{.*}}constants.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%bytes, value=128
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: = dst: %bytes, sbuf 128x64 int8, allocated at {{.*}}
  // CHECK-NEXT: = help: write a number that the type holds, or use a wider type
  nisa.memset dst=%bytes, value=128
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is int8, but 'value' is -129; the type holds -128 to 127
  nisa.memset dst=%bytes, value=-129
  nisa.memset dst=%words, value=4294967295
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is uint32, but 'value' is -1; the type holds 0 to 4294967295
  nisa.memset dst=%words, value=-1
  nisa.memset dst=%numbers, value=2147483647
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is int32, but 'value' is 2147483648; the type holds -2147483648 to 2147483647
  nisa.memset dst=%numbers, value=2147483648
  nki.return
}

nki.kernel @memset_floats() target=trn3 {
  %halves = nki.alloc : memref<128x64xf16, #nki.sbuf>
  %brains = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  %fraction = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK: error[memset-dtype]: nisa.memset: 'dst' is int16, but 'value' is the float 0.5
  nisa.memset dst=%fraction, value=0.5
  nisa.memset dst=%halves, value=65504.0
  // -infinity, which float16 has.
  nisa.memset dst=%halves, value=0xFF800000
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is float16, but 'value' is 65536.0; the type holds -65504.0 to 65504.0
  nisa.memset dst=%halves, value=65536.0
  nisa.memset dst=%halves, value=6.0e-8
  nisa.memset dst=%halves, value=0.0
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is float16, but 'value' is 1e-12; the type's smallest number above 0 is 5.960464477539063e-08
  nisa.memset dst=%halves, value=1.0e-12
  nisa.memset dst=%brains, value=-3.3e38
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is bfloat16, but 'value' is -3.40282347e38; the type holds -3.3895313892515355e+38 to 3.3895313892515355e+38
  nisa.memset dst=%brains, value=-3.4028235e38
  nisa.memset dst=%bytes, value=448.0
  // CHECK: warning[constant-range]: nisa.memset: 'dst' is float8_e4m3fn, but 'value' is float("inf"); the type holds -448.0 to 448.0
  nisa.memset dst=%bytes, value=0x7F800000
  nki.return
}

nki.kernel @selections() target=trn3 {
  %c255 = arith.constant 255 : i32
  %c256 = arith.constant 256 : i32
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %eight = nki.alloc : memref<128x8xui8, #nki.sbuf>
  %fraction = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK: error[memset-dtype]: nisa.memset: 'dst' is int16, but 'value' is the float 0.5
  nisa.memset dst=%fraction, value=0.5
  nisa.memset dst=%bytes, value=0
  nisa.memset dst=%mask, value=1
  nisa.memset dst=%eight, value=2
  nisa.affine_select dst=%bytes, pattern=[[1, 64]], channel_multiplier=0, on_true_tile=%bytes, on_false_value=255, cmp_op=equal
  // CHECK: warning[constant-range]: nisa.affine_select: 'dst' is uint8, but 'on_false_value' is 256; the type holds 0 to 255
  nisa.affine_select dst=%bytes, pattern=[[1, 64]], channel_multiplier=0, on_true_tile=%bytes, on_false_value=256, cmp_op=equal
  nisa.tensor_copy_predicated dst=%bytes, src=%c255, predicate=%mask
  // CHECK: warning[constant-range]: nisa.tensor_copy_predicated: 'dst' is uint8, but 'src' is 256; the type holds 0 to 255
  nisa.tensor_copy_predicated dst=%bytes, src=%c256, predicate=%mask
  nisa.select_reduce dst=%bytes, predicate=%mask, on_true=%bytes, on_false=%c255
  // CHECK: warning[constant-range]: nisa.select_reduce: 'dst' is uint8, but 'on_false' is 256; the type holds 0 to 255
  nisa.select_reduce dst=%bytes, predicate=%mask, on_true=%bytes, on_false=%c256
  nisa.nc_match_replace8 dst=%bytes, data=%bytes, vals=%eight, imm=0.0
  // CHECK: warning[constant-range]: nisa.nc_match_replace8: 'dst' is uint8, but 'imm' is -1.0; the type holds 0 to 255
  nisa.nc_match_replace8 dst=%bytes, data=%bytes, vals=%eight, imm=-1.0
  nki.return
}

// From 5 to 5 + 3 * 2 + 61 * 4 = 255, and one more; from -1 on.
nki.kernel @iota() target=trn3 {
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %bytes = nki.alloc : memref<4x62xui8, #nki.sbuf>
  %registers = nki.alloc : memref<4x62xi8, #nki.sbuf>
  %fraction = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK: error[memset-dtype]: nisa.memset: 'dst' is int16, but 'value' is the float 0.5
  nisa.memset dst=%fraction, value=0.5
  nisa.iota dst=%bytes, pattern=[[4, 62]], offset=%c5, channel_multiplier=2
  // CHECK: warning[constant-range]: nisa.iota: 'dst' is uint8, but a value is 256; the type holds 0 to 255
  nisa.iota dst=%bytes, pattern=[[4, 62]], offset=%c6, channel_multiplier=2
  nisa.iota dst=%bytes, pattern=[[-1, 62]], offset=%c64, channel_multiplier=-1
  // CHECK: warning[constant-range]: nisa.iota: 'dst' is uint8, but a value is -1; the type holds 0 to 255
  nisa.iota dst=%bytes, pattern=[[-1, 62]], offset=%c63, channel_multiplier=-1
  // CHECK: warning[constant-range]: nisa.iota: 'dst' is int8, but a value is 128; the type holds -128 to 127
  nisa.iota dst=%registers, pattern=[[2, 62]], channel_multiplier=2
  nki.return
}

// Bit patterns are as wide as the tiles, whatever their sign; shifts leave some of it.
nki.kernel @bits() target=trn3 {
  %c_128 = arith.constant -128 : i32
  %c_129 = arith.constant -129 : i32
  %c255 = arith.constant 255 : i32
  %c256 = arith.constant 256 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %fraction = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK: error[memset-dtype]: nisa.memset: 'dst' is int16, but 'value' is the float 0.5
  nisa.memset dst=%fraction, value=0.5
  nisa.memset dst=%bytes, value=3
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=bitwise_and, operand0=%c_128, op1=bitwise_or, operand1=%c255
  // CHECK: warning[constant-range]: nisa.tensor_scalar: 'operand0' is 256, which has more bits than uint8
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=bitwise_and, operand0=%c256
  // CHECK: warning[constant-range]: nisa.tensor_scalar: 'operand1' is -129, which has more bits than uint8
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=bitwise_or, operand0=%c255, op1=bitwise_xor, operand1=%c_129
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=left_shift, operand0=%c7
  // What is shifted may be the constant.
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=right_shift, operand0=%c8, reverse0=true
  // CHECK: warning[constant-range]: nisa.tensor_scalar: 'operand0' shifts uint8 by 8, 0 to 7 keep bits
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=right_shift, operand0=%c8
  // Arithmetic is float32's.
  nisa.tensor_scalar dst=%bytes, data=%bytes, op0=subtract, operand0=%c256
  nki.return
}

// CHECK: 5 errors and 18 warnings
