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

// In PSUM.
nki.kernel @rand2_buffers() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.rand2 dst=%far, min=%zero, max=%one
  nisa.rand2 dst=%dst, min=%column, max=%one
  nisa.rand2 dst=%dst, min=%zero, max=%column
  nki.return
}

// Types that it writes.
nki.kernel @rand2_dtype() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %boolean = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %fn = nki.alloc : memref<128x64xf8E4M3, #nki.sbuf>
  nisa.rand2 dst=%boolean, min=%zero, max=%one
  nisa.rand2 dst=%fn, min=%zero, max=%one
  nki.return
}

// float32.
nki.kernel @rand2_limit_dtypes() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%column, max=%one
  nisa.rand2 dst=%dst, min=%zero, max=%column
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

// The same number.
nki.kernel @rand2_max_column() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %dst = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %limit = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.rand2 dst=%dst, min=%zero, max=%limit
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

// In PSUM.
nki.kernel @dropout_buffers() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.dropout dst=%far, data=%tile, prob=%zero
  nisa.dropout dst=%tile, data=%far, prob=%zero
  nisa.dropout dst=%tile, data=%tile, prob=%column
  nki.return
}

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

// One.
nki.kernel @dropout_column() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %prob = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.dropout dst=%tile, data=%tile, prob=%prob
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

// In PSUM.
nki.kernel @set_rng_seed_buffer() target=trn3 {
  %seed = nki.alloc : memref<1x1xi32, #nki.psum>
  nisa.set_rng_seed src_seeds=%seed
  nki.return
}

// int32, uint32 and float32 have.
nki.kernel @set_rng_seed_dtype() target=trn3 {
  %half = nki.alloc : memref<1x1xf32, #nki.sbuf>
  %short = nki.alloc : memref<1x1xui32, #nki.sbuf>
  nisa.set_rng_seed src_seeds=%half
  nisa.set_rng_seed src_seeds=%short
  nki.return
}

// One element.
nki.kernel @set_rng_seed_shape() target=trn3 {
  %column = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %two = nki.alloc : memref<1x1x1xi32, #nki.sbuf>
  nisa.set_rng_seed src_seeds=%column
  nisa.set_rng_seed src_seeds=%two
  nki.return
}

// -------------------- nisa.rand_set_state

// trn2 is NeuronCore-v3.
nki.kernel @rand_set_state_generation() target=trn2 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state
  nki.return
}

// The engines that have one.
nki.kernel @rand_set_state_engine() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state, engine=gpsimd
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @rand_set_state_vector() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// In SBUF.
nki.kernel @rand_set_state_buffer() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%states, engine=vector
  nki.return
}

// uint32.
nki.kernel @rand_set_state_dtype() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_set_state src_seeds=%state
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

// trn2 is NeuronCore-v3.
nki.kernel @rand_get_state_generation() target=trn2 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state
  nki.return
}

// The engines that have one.
nki.kernel @rand_get_state_engine() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state, engine=gpsimd
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @rand_get_state_vector() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}

// In PSUM, which the Vector Engine reaches.
nki.kernel @rand_get_state_buffer() target=trn3 {
  %states = nki.alloc : memref<128x24xui32, #nki.psum>
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}

// It reaches SBUF.
nki.kernel @rand_get_state_psum() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state
  nki.return
}

// uint32.
nki.kernel @rand_get_state_dtype() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state
  nki.return
}

// Two.
nki.kernel @rand_get_state_dims() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state
  nki.return
}

// Six for the GpSimd Engine, 24 for the Vector Engine.
nki.kernel @rand_get_state_words() target=trn3 {
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %states = nki.alloc : memref<128x24xui32, #nki.sbuf>
  nisa.rand_get_state dst=%state
  nisa.rand_get_state dst=%states, engine=vector
  nki.return
}
