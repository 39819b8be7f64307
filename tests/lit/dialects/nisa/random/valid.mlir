// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Random numbers: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.rng

// In PSUM.
nki.kernel @rng_buffer() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.psum>
  nisa.rng dst=%dst
  nki.return
}

// Integers of any width.
nki.kernel @rng_dtype() target=trn3 {
  %float = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %boolean = nki.alloc : memref<128x64xi16, #nki.sbuf>
  nisa.rng dst=%float
  nisa.rng dst=%boolean
  nki.return
}

// The engines that have one, or the default.
nki.kernel @rng_engine() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.rng dst=%dst, engine=gpsimd
  nisa.rng dst=%dst, engine=vector
  nisa.rng dst=%dst, engine=unknown
  nki.return
}

// It reaches SBUF.
nki.kernel @rng_gpsimd_psum() target=trn3 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.rng dst=%dst, engine=gpsimd
  nki.return
}

// On NeuronCore-v3 it has.
nki.kernel @rng_generation() target=trn2 {
  %dst = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.rng dst=%dst, engine=gpsimd
  nki.return
}

// -------------------- nisa.rand2

// trn3 is NeuronCore-v4.
nki.kernel @rand2_generation() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%zero, max=%one
  nki.return
}

// One.
nki.kernel @rand2_min_column() target=trn3 {
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %limit = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%limit, max=%one
  nki.return
}

// Below it, at a finite distance.
nki.kernel @rand2_range() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %large = arith.constant -1.0e38 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%zero, max=%one
  nisa.rand2 dst=%dst, min=%large, max=%one
  nki.return
}

// -------------------- nisa.dropout

// The same number.
nki.kernel @dropout_partitions() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// As many; how they are cut into dimensions does not matter.
nki.kernel @dropout_free_size() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// The same, also a packed one.
nki.kernel @dropout_dtype() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %data = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.dropout dst=%dst, data=%data, prob=%zero
  nki.return
}

// Any floating-point type for such data, float32 for integers.
nki.kernel @dropout_prob_dtype() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %whole = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %integer = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  %half = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.dropout dst=%tile, data=%tile, prob=%integer
  nisa.dropout dst=%whole, data=%whole, prob=%half
  nki.return
}

// The limits.
nki.kernel @dropout_probability() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dropout dst=%tile, data=%tile, prob=%zero
  nisa.dropout dst=%tile, data=%tile, prob=%one
  nki.return
}

// -------------------- nisa.set_rng_seed

// One element.
nki.kernel @set_rng_seed_shape() target=trn3 {
  %column = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %two = nki.alloc : memref<1x1x1xi32, #nki.sbuf>
  nisa.set_rng_seed src_seeds=%column
  nisa.set_rng_seed src_seeds=%two
  nki.return
}

// -------------------- nisa.rand_set_state

// trn3 is NeuronCore-v4.
nki.kernel @rand_set_state_vector() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// Two.
nki.kernel @rand_set_state_dims() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state
  nki.return
}

// Six for the GpSimd Engine, 24 for the Vector Engine.
nki.kernel @rand_set_state_words() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// -------------------- nisa.rand_get_state

// trn3 is NeuronCore-v4.
nki.kernel @rand_get_state_vector() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}
