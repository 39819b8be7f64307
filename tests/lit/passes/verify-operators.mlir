// RUN: not nkijit-opt -p verify-operators %s 2>&1 | filecheck --match-full-lines %s

// verify-operators reports operators, flags and commands that do not go together, and nothing else.

// Mistakes of every other category: not this pass's business.
nki.kernel @other_categories(%x: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.reciprocal dst=%tile, data=%x
  nisa.reciprocal dst=%few, data=%tile
  nisa.reciprocal dst=%packed, data=%tile
  nki.return
}

// CHECK: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
// CHECK: error[reverse-needs-op]: nisa.tensor_scalar: 'reverse1' is True, but 'op1' is not set
// CHECK: error[op-pair]: nisa.activate2: (op0, op1) is (add, add), legal are (multiply, add), (multiply, subtract), (multiply, bypass), (add, bypass), (subtract, bypass), (bypass, bypass)
// CHECK: error[dma-arguments]: nisa.dma_copy: 'priority' must be 0 to 3, it is 9
// One instruction may break several rules; they come in the order of the rules.
// CHECK: error[reverse-needs-op]: nisa.activate2: 'reverse0' is True, but 'op0' is not set
// CHECK: error[reduce-op]: nisa.activate2: 'reduce_op' must be nl.add, nl.maximum, nl.minimum, nl.abs_max or nl.abs_min, it is nl.multiply
// CHECK: error[reduce-cmd]: nisa.activate2: 'reduce_cmd' must be idle, reset, reduce or reset_reduce, it is load_reduce
nki.kernel @operators(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%tile, op=add, data=%tile
  nisa.tensor_scalar dst=%tile, data=%tile, op0=add, operand0=%one, reverse1=true
  nisa.activate2 dst=%tile, op=exp, data=%tile, imm0=%one, imm1=%one, op0=add, op1=add
  nisa.dma_copy dst=%tile, src=%x, priority=9
  nisa.activate2 dst=%tile, op=exp, data=%tile, imm0=%one, imm1=%one, op0=bypass, op1=bypass, reverse0=true, reduce_op=multiply, reduce_cmd=load_reduce
  nki.return
}

// CHECK: 7 errors
