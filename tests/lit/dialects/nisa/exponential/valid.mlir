// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// The Vector Engine's exponential: the nearest legal neighbours of the kernels in invalid.mlir,
// by the same names.

// CHECK: no findings

// trn3 is NeuronCore-v4.
nki.kernel @exponential_generation() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// All operands are in PSUM.
nki.kernel @exponential_buffers() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %far_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.exponential dst=%far, src=%tile
  nisa.exponential dst=%tile, src=%far
  nisa.exponential dst=%tile, src=%tile, max_value=%far_column
  nisa.exponential dst=%tile, src=%tile, reduce_res=%far_column, reduce_cmd=reset_reduce
  nisa.exponential dst=%tile, src=%tile, reduce_cmd=load_reduce, reduce_init=%far_column
  nki.return
}

// The same number.
nki.kernel @exponential_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// As many; how they are cut into dimensions does not matter.
nki.kernel @exponential_free_size() target=trn3 {
  %dst = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src
  nki.return
}

// Four dimensions are the limit.
nki.kernel @exponential_dims() target=trn3 {
  %flat = nki.alloc : memref<128x16xf32, #nki.sbuf>
  %deep = nki.alloc : memref<128x4x2x2xf32, #nki.sbuf>
  nisa.exponential dst=%flat, src=%deep
  nisa.exponential dst=%deep, src=%flat
  nki.return
}

// (P, 1).
nki.kernel @exponential_columns() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %max = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %start = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, max_value=%max
  nisa.exponential dst=%dst, src=%src, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%start
  nki.return
}

// Neighbours of these in the list.
nki.kernel @exponential_dst_dtype() target=trn3 {
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %words = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64xf8E5M2, #nki.sbuf>
  %ocp = nki.alloc : memref<128x64xf8E4M3, #nki.sbuf>
  nisa.exponential dst=%words, src=%src
  nisa.exponential dst=%packed, src=%src
  nisa.exponential dst=%ocp, src=%src
  nki.return
}

// reset_reduce.
nki.kernel @exponential_reduce_cmd() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce
  nki.return
}

// With load_reduce.
nki.kernel @exponential_reduce_init() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %one = arith.constant 1.0 : f32
  %start = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%one
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%start
  nisa.exponential dst=%dst, src=%src, reduce_cmd=load_reduce, reduce_init=%one
  nki.return
}

// 0.0, even negative, is as good as left out.
nki.kernel @exponential_reduce_init_zero() target=trn3 {
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %init = arith.constant -0.0 : f32
  nisa.exponential dst=%dst, src=%src, reduce_cmd=reset_reduce, reduce_init=%init
  nki.return
}
