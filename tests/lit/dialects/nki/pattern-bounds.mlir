// RUN: not nkijit verify %s > %t
// RUN: filecheck %s < %t

// Patterns that leave their tensor, in kernels that have no other mistake, and what becomes of values.

// What lies outside is copied to where nobody looks.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 0 to 79 of partitions of 64 float32
// CHECK-NOT: undefined-use
nki.kernel @copied(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %wide = nki.alloc : memref<128x80xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%x
  %row = nki.view %tile offset=0 pattern=[[64, 128], [1, 80]]
  nisa.tensor_copy dst=%wide, src=%row
  %own = nki.view %wide offset=0 pattern=[[80, 128], [1, 64]]
  nisa.dma_copy dst=%out, src=%own
  nki.return %out
}

// It is returned, which is no second error.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 32 to 8223 of a tensor of 8192 float32
// CHECK-NOT: undefined-use
nki.kernel @returned(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %later = nki.view %x offset=32 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%out, src=%later
  nki.return %out
}

// A write through such a pattern writes what is inside, and no more.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 8 to 71 of partitions of 64 bfloat16
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 0:8]
// CHECK: = 'src': nothing has written its elements [0:128, 0:8]
nki.kernel @written() target=trn3 {
  %out = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %tile = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %late = nki.view %tile offset=8 pattern=[[64, 128], [1, 64]]
  nisa.memset dst=%late, value=1
  nisa.dma_copy dst=%out, src=%tile
  nki.return %out
}

// What was written outside of a tensor is read there.
// CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 16 to 23 of a tensor of 16 int32
// CHECK-NOT: read-unwritten
// CHECK: 5 errors
nki.kernel @lost(%x: memref<1x8xi32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<1x8xi32, #nki.shared_hbm>
  %scratch = nki.alloc : memref<2x8xi32, #nki.private_hbm>
  %beyond = nki.view %scratch offset=16 pattern=[[8, 1], [1, 8]]
  nisa.dma_copy dst=%beyond, src=%x
  nisa.dma_copy dst=%out, src=%beyond
  nki.return %out
}
