// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Random numbers: what the rules forbid. A kernel here breaks one rule, for one operand or argument
// after the other; where it cannot break one alone, its comment says so. The kernel of the same
// name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.rng

// 'dst' is in HBM.
// CHECK: error[buffer]: nisa.rng: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rng dst=%dst
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, private_hbm 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
nki.kernel @rng_buffer() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.private_hbm>
  nisa.rng dst=%dst
  nki.return
}

// Bits are not a float, nor a boolean.
// CHECK: error[dtype]: nisa.rng: 'dst' must be int8, int16, int32, uint8, uint16 or uint32, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rng dst=%float
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %float, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.rng: 'dst' must be int8, int16, int32, uint8, uint16 or uint32, it is bool_
nki.kernel @rng_dtype() target=trn3 {
  %float = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %boolean = nki.alloc : memref<128x64xi1, #nki.sbuf>
  nisa.rng dst=%float
  nisa.rng dst=%boolean
  nki.return
}

// The Scalar Engine has no generator.
// CHECK: error[engine]: nisa.rng: the instruction runs on vector or gpsimd, not on scalar
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rng dst=%dst, engine=scalar
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave engine= out, or pass one that the message lists
nki.kernel @rng_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.rng dst=%dst, engine=scalar
  nki.return
}

// The GpSimd Engine cannot reach PSUM.
// CHECK: error[gpsimd-psum]: nisa.rng: the GpSimd Engine cannot reach PSUM, but 'dst' is in PSUM
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rng dst=%dst, engine=gpsimd
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, psum 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: copy the tile to SBUF first with nisa.tensor_copy, or leave engine= to another engine
nki.kernel @rng_gpsimd_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.psum>
  nisa.rng dst=%dst, engine=gpsimd
  nki.return
}

// On NeuronCore-v2 the GpSimd Engine has no rng.
// CHECK: error[argument-generation]: nisa.rng: rng on the GpSimd Engine needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rng dst=%dst, engine=gpsimd
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave the argument at its default, or trace for a newer target with platform_target=
nki.kernel @rng_generation() target=trn1 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.rng dst=%dst, engine=gpsimd
  nki.return
}

// -------------------- nisa.rand2

// rand2 is new in NeuronCore-v4.
// CHECK: error[generation]: nisa.rand2: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rand2 dst=%dst, min=%zero, max=%one
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another instruction, or trace for a newer target with platform_target=
nki.kernel @rand2_generation() target=trn2 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%zero, max=%one
  nki.return
}

// 'min' has two elements per partition.
// CHECK: error[column]: nisa.rand2: 'min' must have shape (128, 1), one element for each partition of 'dst', it is 128x2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rand2 dst=%dst, min=%limit, max=%one
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = min: %limit, sbuf 128x2 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass one column, limit[:, 0:1], or a number
nki.kernel @rand2_min_column() target=trn3 {
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %limit = nki.alloc : memref<128x2xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%limit, max=%one
  nki.return
}

// 'min' is above 'max', equal to it, or infinitely far below.
// CHECK: error[random-range]: nisa.rand2: 'min' is 1, 'max' is 0
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rand2 dst=%dst, min=%one, max=%zero
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass numbers with min below max
// CHECK: error[random-range]: nisa.rand2: 'min' is 1, 'max' is 1
// CHECK: error[random-range]: nisa.rand2: 'min' is -inf, 'max' is 1
nki.kernel @rand2_range() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%one, max=%zero
  nisa.rand2 dst=%dst, min=%one, max=%one
  nisa.rand2 dst=%dst, min=%infinity, max=%one
  nki.return
}

// -------------------- nisa.dropout

// 'dst' has fewer partitions than 'data'.
// CHECK: error[partitions-match]: nisa.dropout: different numbers of partitions: 'data' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dropout dst=%dst, data=%data, prob=%zero
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read data[0:64] only
nki.kernel @dropout_partitions() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// 'dst' has half of the elements.
// CHECK: error[free-size-match]: nisa.dropout: different numbers of elements per partition: 'data' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dropout dst=%dst, data=%data, prob=%zero
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, data[:, 0:32], or allocate 'dst' with 64 elements per partition
nki.kernel @dropout_free_size() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// 'dst' has another data type.
// CHECK: error[same-dtype]: nisa.dropout: different data types: 'data' is float32, 'dst' is bfloat16
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dropout dst=%dst, data=%data, prob=%zero
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x64 bfloat16, allocated at {{.*}}
// CHECK-NEXT: = help: allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first
nki.kernel @dropout_dtype() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// 'prob' is an integer; for integer data it is not float32.
// CHECK: error[dtype]: nisa.dropout: 'prob' must be of a floating-point type, it is int32
// CHECK: error[dtype]: nisa.dropout: for int32 data 'prob' must be float32, it is bfloat16
nki.kernel @dropout_prob_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %whole = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %integer = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %half = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.dropout dst=%tile, data=%tile, prob=%integer
  nisa.dropout dst=%whole, data=%whole, prob=%half
  nki.return
}

// A percentage, a negative number and NaN are no probabilities.
// CHECK: error[probability]: nisa.dropout: 'prob' must be 0 to 1, it is 10
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dropout dst=%tile, data=%tile, prob=%percent
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a fraction, e.g. 0.1 for ten percent
// CHECK: error[probability]: nisa.dropout: 'prob' must be 0 to 1, it is -0.5
// CHECK: error[probability]: nisa.dropout: 'prob' must be 0 to 1, it is nan
nki.kernel @dropout_probability() target=trn3 {
  %percent = arith.constant 10 : i32
  %negative = arith.constant -0.5 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%tile, data=%tile, prob=%percent
  nisa.dropout dst=%tile, data=%tile, prob=%negative
  nisa.dropout dst=%tile, data=%tile, prob=%nan
  nki.return
}

// -------------------- nisa.set_rng_seed

// A seed for each partition, then two in one.
// CHECK: error[seed-shape]: nisa.set_rng_seed: 'src_seeds' must be 1x1, it is 128x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.set_rng_seed src_seeds=%column
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src_seeds: %column, sbuf 128x1 int32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a (1, 1) tile, e.g. nl.full((1, 1), 42, dtype=nl.int32)
// CHECK: error[seed-shape]: nisa.set_rng_seed: 'src_seeds' must be 1x1, it is 1x2
nki.kernel @set_rng_seed_shape() target=trn3 {
  %column = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %two = nki.alloc : memref<1x2xi32, #nki.sbuf>
  nisa.set_rng_seed src_seeds=%column
  nisa.set_rng_seed src_seeds=%two
  nki.return
}

// -------------------- nisa.rand_set_state

// The state of the Vector Engine can be set from NeuronCore-v4 on.
// CHECK: error[argument-generation]: nisa.rand_set_state: the state of the Vector Engine needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @rand_set_state_vector() target=trn2 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// 'src_seeds' has three dimensions.
// CHECK: error[max-dims]: nisa.rand_set_state: 'src_seeds' has 3 dimensions, at most 2 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rand_set_state src_seeds=%state
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src_seeds: %state, sbuf 128x2x3 uint32, allocated at {{.*}}
// CHECK-NEXT: = help: merge free dimensions first, with t.reshape((p, n)) or t.flatten_dims(first, last)
nki.kernel @rand_set_state_dims() target=trn3 {
  %state = nki.alloc : memref<128x2x3xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state
  nki.return
}

// The words of the other engine.
// CHECK: error[free-size-range]: nisa.rand_set_state: with engine.gpsimd the state of a lane has 6 words, 'src_seeds' has 24 elements per partition
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.rand_set_state src_seeds=%states
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src_seeds: %states, sbuf 128x24 uint32, allocated at {{.*}}
// CHECK-NEXT: = help: use a tile with 6 elements per partition, or name the other engine
// CHECK: error[free-size-range]: nisa.rand_set_state: with engine.vector the state of a lane has 24 words, 'src_seeds' has 6 elements per partition
nki.kernel @rand_set_state_words() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%states
  nisa.rand_set_state src_seeds=%state, engine=vector
  nki.return
}

// -------------------- nisa.rand_get_state

// The state of the Vector Engine can be read from NeuronCore-v4 on.
// CHECK: error[argument-generation]: nisa.rand_get_state: the state of the Vector Engine needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @rand_get_state_vector() target=trn2 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}

// CHECK: 26 errors
