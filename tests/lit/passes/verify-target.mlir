// RUN: not nkijit-opt -p verify-target %s 2>&1 | filecheck --match-full-lines %s

// verify-target reports instructions, operators, arguments and engines that the target does not
// have, and nothing else. Every kernel is judged by its own target.

// Mistakes of every other category: not this pass's business.
nki.kernel @other_categories(%x: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.reciprocal dst=%tile, data=%x
  nisa.reciprocal dst=%few, data=%tile
  nisa.reciprocal dst=%packed, data=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=gelu
  nki.return
}

// trn1 is NeuronCore-v2; inf2 and gen2 are other names for it.
// CHECK: error[generation]: nisa.exponential: the instruction needs NeuronCore-v4, the target trn1 is NeuronCore-v2
// CHECK: error[operator-generation]: nisa.tensor_tensor: 'op' is nl.abs_max, an operator of NeuronCore-v4, the target trn1 is NeuronCore-v2
// CHECK: error[argument-generation]: nisa.activation: a scalar 'bias' needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK: error[argument-generation]: nisa.dma_copy: 'priority' needs NeuronCore-v4, the target trn1 is NeuronCore-v2
nki.kernel @v2(%x: memref<128x64xf32, #nki.private_hbm>) target=inf2 {
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=abs_max
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%one
  nisa.dma_copy dst=%tile, src=%x, priority=0
  nki.return
}

// trn2 is NeuronCore-v3, which has the scalar bias.
// CHECK: error[generation]: nisa.exponential: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK: error[operator-generation]: nisa.tensor_tensor: 'op' is nl.abs_max, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK: error[argument-generation]: nisa.dma_copy: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @v3(%x: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=abs_max
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%one
  nisa.dma_copy dst=%tile, src=%x, priority=0
  nki.return
}

// trn3 is NeuronCore-v4, which has all of them. Engines are the same in all generations.
// CHECK: error[engine]: nisa.memset: the instruction runs on vector or gpsimd, not on scalar
// CHECK: error[engine-operator]: nisa.tensor_tensor: nl.power runs on the GpSimd Engine, 'engine' is vector
nki.kernel @v4(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=abs_max
  nisa.activation dst=%tile, op=exp, data=%tile, bias=%one
  nisa.dma_copy dst=%tile, src=%x, priority=0
  nisa.memset dst=%tile, value=0, engine=scalar
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=power, engine=vector
  nki.return
}

// CHECK: 9 errors
