// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// The Vector Engine's exponential: what the rules forbid. A kernel here breaks one rule, for one
// operand or argument after the other; where it cannot break one alone, its comment says so. The
// kernel of the same name in valid.mlir differs in that one thing and is silent.

// exponential is new in NeuronCore-v4.
// CHECK: error[generation]: nisa.exponential: the instruction needs NeuronCore-v4, the target trn2 is NeuronCore-v3
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: choose another instruction, or trace for a newer target with platform_target=
nki.kernel @exponential_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// Each operand in turn is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.exponential: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%far, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far, private_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.exponential: 'src' must be in sbuf or psum, it is in private_hbm
// CHECK: error[buffer]: nisa.exponential: 'max_value' must be in sbuf or psum, it is in shared_hbm
// CHECK: error[buffer]: nisa.exponential: 'reduce_res' must be in sbuf or psum, it is in shared_hbm
// CHECK: error[buffer]: nisa.exponential: 'reduce_init' must be in sbuf or psum, it is in shared_hbm
nki.kernel @exponential_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_column = nki.alloc : memref<128x1xf32, #nki.shared_hbm>
  nisa.exponential dst=%far, src=%tile
  nisa.exponential dst=%tile, src=%far
  nisa.exponential dst=%tile, src=%tile, max_value=%far_column
  nisa.exponential dst=%tile, src=%tile, reduce_res=%far_column, reduce_cmd=reset_reduce
  nisa.exponential dst=%tile, src=%tile, reduce_cmd=load_reduce, reduce_init=%far_column
  nki.return
}

// 'dst' has fewer partitions than 'src'.
// CHECK: error[partitions-match]: nisa.exponential: different numbers of partitions: 'src' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 64x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read src[0:64] only
nki.kernel @exponential_partitions() target=trn3 {
  %dst = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// 'dst' has half of the elements per partition.
// CHECK: error[free-size-match]: nisa.exponential: different numbers of elements per partition: 'src' has 64, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, src[:, 0:32], or allocate 'dst' with 64 elements per partition
nki.kernel @exponential_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// A tile of five dimensions, first as 'src', then as 'dst'.
// CHECK: error[max-dims]: nisa.exponential: 'src' has 5 dimensions, at most 4 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%flat, src=%deep
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %deep, sbuf 128x2x2x2x2 float32, allocated at {{.*}}
// CHECK-NEXT: = help: merge free dimensions first, with t.reshape((p, n)) or t.flatten_dims(first, last)
// CHECK: error[max-dims]: nisa.exponential: 'dst' has 5 dimensions, at most 4 are possible
nki.kernel @exponential_dims() target=trn3 {
  %flat = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %deep = nki.alloc : memref<128x2x2x2x2xf32, #nki.sbuf>
  nisa.exponential dst=%flat, src=%deep
  nisa.exponential dst=%deep, src=%flat
  nki.return
}

// A per-partition operand has fewer rows than 'src' has partitions, or two elements in each.
// CHECK: error[column]: nisa.exponential: 'max_value' must have shape (128, 1), one element for each partition of 'src', it is 64x1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src, max_value=%max
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = max_value: %max, sbuf 64x1 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %src, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: pass a number, or a tile with one element per partition, e.g. t[:, 0:1]
// CHECK: error[column]: nisa.exponential: 'reduce_res' must have shape (128, 1), one element for each partition of 'src', it is 128x2
// CHECK: error[column]: nisa.exponential: 'reduce_init' must have shape (128, 1), one element for each partition of 'src', it is 128x64
nki.kernel @exponential_columns() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %max = nki.alloc : memref<64x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %start = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, max_value=%max
  nisa.exponential dst=%dst, src=%src, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%start
  nki.return
}

// 'dst' is uint32, a packed type, or the FP8 format of OCP; all three are not in the list.
// CHECK: error[dtype]: nisa.exponential: 'dst' must be float8_e4m3, float8_e5m2, float16, bfloat16, float32, int8, int16, int32, uint8, uint16 or tfloat32, it is uint32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%words, src=%src
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %words, sbuf 128x64 uint32, allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[dtype]: nisa.exponential: 'dst' must be float8_e4m3, float8_e5m2, float16, bfloat16, float32, int8, int16, int32, uint8, uint16 or tfloat32, it is float8_e5m2_x4
// CHECK: error[dtype]: nisa.exponential: 'dst' must be float8_e4m3, float8_e5m2, float16, bfloat16, float32, int8, int16, int32, uint8, uint16 or tfloat32, it is float8_e4m3fn
nki.kernel @exponential_dst_dtype() target=trn3 {
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %ocp = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  nisa.exponential dst=%words, src=%src
  nisa.exponential dst=%packed, src=%src
  nisa.exponential dst=%ocp, src=%src
  nki.return
}

// A reset without reducing is for the Scalar Engine only.
// CHECK: error[reduce-cmd]: nisa.exponential: 'reduce_cmd' must be idle, reset_reduce, reduce or load_reduce, it is reset
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src, reduce_cmd=reset
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce
nki.kernel @exponential_reduce_cmd() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset
  nki.return
}

// 'reduce_init' is not 0.0, or a tile, without load_reduce.
// CHECK: error[reduce-init]: nisa.exponential: 'reduce_init' is given, but 'reduce_cmd' is reset_reduce
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce, reduce_init=%one
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.load_reduce, or leave reduce_init out
// CHECK: error[reduce-init]: nisa.exponential: 'reduce_init' is given, but 'reduce_cmd' is reduce
// CHECK: error[reduce-init]: nisa.exponential: 'reduce_init' is given, but 'reduce_cmd' is idle
nki.kernel @exponential_reduce_init() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %one = arith.constant 1.0 : f32
  %start = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce, reduce_init=%one
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reduce, reduce_init=%start
  nisa.exponential dst=%dst, src=%src, reduce_cmd=idle, reduce_init=%one
  nki.return
}

// NaN is not 0.0.
// CHECK: error[reduce-init]: nisa.exponential: 'reduce_init' is given, but 'reduce_cmd' is reset_reduce
nki.kernel @exponential_reduce_init_zero() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %init = arith.constant 0x7FC00000 : f32
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce, reduce_init=%init
  nki.return
}

// CHECK: 21 errors
