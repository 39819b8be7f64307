// RUN: not nkijit-opt -p verify-buffers %s 2>&1 | filecheck --match-full-lines %s

// verify-buffers reports operands in buffers that their instruction or engine cannot reach, and
// nothing else.

// Mistakes of every other category: not this pass's business.
nki.kernel @other_categories() target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.reciprocal dst=%few, data=%tile
  nisa.reciprocal dst=%packed, data=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=gelu
  nki.return
}

// CHECK: error[buffer]: nisa.reciprocal: 'data' must be in sbuf or psum, it is in private_hbm
// CHECK: error[both-in-psum]: nisa.tensor_tensor: 'data1' and 'data2' are both in psum
// CHECK: error[gpsimd-psum]: nisa.memset: the GpSimd Engine cannot reach PSUM, but 'dst' is in PSUM
// CHECK: error[buffer]: nisa.nc_transpose: the Tensor Engine transposes from sbuf to psum, 'data' is in sbuf and 'dst' in sbuf
nki.kernel @buffers(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xf32, #nki.psum>
  %square = nki.alloc : memref<32x32xf32, #nki.sbuf>
  nisa.reciprocal dst=%tile, data=%x
  nisa.tensor_tensor dst=%tile, data1=%sum, data2=%sum, op=add
  nisa.memset dst=%sum, value=0, engine=gpsimd
  nisa.nc_transpose dst=%square, data=%square, engine=tensor
  nki.return
}

// CHECK: 4 errors
