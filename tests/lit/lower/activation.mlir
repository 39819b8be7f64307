// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// An instruction with reduce_res is two: it, and one that reads the accumulators. Functions of another
// table than the resident one have it loaded first; exp and the Vector Engine's exponential need none in
// common.
// CHECK: kernel accumulators, trn3 (NeuronCore-v4)
// CHECK-NEXT: 14 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 388 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 11 wait(scalar>=1) EXPONENTIAL dst=y[sbuf 256, 0:128, 1:64, bfloat16], src=x[sbuf 0, 0:128, 1:64, float32], reduce_cmd=reset_reduce activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 12 wait(scalar>=2) READ_ACCUMULATORS reduce_res=sum[sbuf 384, 0:128, 1:1, float32] activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 13 EXPONENTIAL dst=y[sbuf 256, 0:128, 1:64, bfloat16], src=x[sbuf 0, 0:128, 1:64, float32] activation.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 10 instructions
// CHECK-NEXT: 1 LOAD_TABLE table=exp activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(vector>=1) ACTIVATE dst=y[sbuf 256, 0:128, 1:64, bfloat16], data=x[sbuf 0, 0:128, 1:64, float32], op=exp, reduce_op=add, reduce_cmd=reset_reduce activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 READ_ACCUMULATORS reduce_res=sum[sbuf 384, 0:128, 1:1, float32] activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 ACTIVATE dst=y[sbuf 256, 0:128, 1:64, bfloat16], data=x[sbuf 0, 0:128, 1:64, float32], scale=0.5, op=exp activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 LOAD_TABLE table=gelu activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 ACTIVATE dst=y[sbuf 256, 0:128, 1:64, bfloat16], data=x[sbuf 0, 0:128, 1:64, float32], op=gelu, reduce_op=add activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 READ_ACCUMULATORS reduce_res=sum[sbuf 384, 0:128, 1:1, float32] activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 LOAD_TABLE table=square activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 ACTIVATE2 dst=y[sbuf 256, 0:128, 1:64, bfloat16], data=x[sbuf 0, 0:128, 1:64, float32], imm0=0.5, imm1=0.5, op=square, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset_reduce signal(1) activation.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 READ_ACCUMULATORS reduce_res=sum[sbuf 384, 0:128, 1:1, float32] signal(2) activation.mlir:{{[0-9]+}}
nki.kernel @accumulators() target=trn3 {
  %half = arith.constant 0.5 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.activation dst=%y, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.activation dst=%y, op=exp, data=%x, scale=%half
  nisa.activation_reduce dst=%y, op=gelu, data=%x, reduce_op=add, reduce_res=%sum
  nisa.activate2 dst=%y, op=square, data=%x, imm0=%half, imm1=%half, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.exponential dst=%y, src=%x, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.exponential dst=%y, src=%x
  nki.return
}
