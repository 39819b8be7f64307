// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Generated patterns: the nearest legal neighbours of the kernels in invalid.mlir, by the same
// names.

// CHECK: no findings

// In SBUF.
nki.kernel @iota_buffer() target=trn3 {
  %near = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.iota dst=%near, pattern=[[1, 64]]
  nisa.iota dst=%far, pattern=[[1, 64]]
  nki.return
}

// One, and four.
nki.kernel @iota_pairs() target=trn3 {
  %dst = nki.alloc : memref<128x32xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[1, 32]]
  nisa.iota dst=%dst, pattern=[[8, 4], [4, 2], [2, 2], [1, 2]]
  nki.return
}

// Counts are positive; a step may be 0 or below.
nki.kernel @iota_counts() target=trn3 {
  %dst = nki.alloc : memref<128x32xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[0, 32], [1, 1]]
  nisa.iota dst=%dst, pattern=[[-4, 8], [-1, 4]]
  nki.return
}

// As many; 'dst' may have other dimensions.
nki.kernel @iota_size() target=trn3 {
  %dst = nki.alloc : memref<128x4x16xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[16, 4], [1, 16]]
  nki.return
}

// An unpacked type.
nki.kernel @iota_packed() target=trn3 {
  %dst = nki.alloc : memref<128x32xf8E5M2, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[0, 32]]
  nki.return
}

// Up to the largest integer that is exact, and multiples of a power of two beyond it.
nki.kernel @iota_rounded() target=trn3 {
  %c1 = arith.constant 1 : i32
  %c-512 = arith.constant -512 : i32
  %short = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %half = nki.alloc : memref<128x2048xf16, #nki.sbuf>
  nisa.iota dst=%short, pattern=[[1, 256]], offset=%c1
  nisa.iota dst=%short, pattern=[[4, 256]], channel_multiplier=4, offset=%c-512
  nisa.iota dst=%half, pattern=[[1, 2048]]
  nki.return
}
