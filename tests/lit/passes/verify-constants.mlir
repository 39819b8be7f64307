// RUN: not nkijit-opt -p verify-constants %s 2>&1 | filecheck %s

// Instructions that write constant data are found, others are not.
// CHECK: error[constant-written]: nisa.dma_copy: 'dst' is constant data
// CHECK: 1 error
nki.kernel @writes(%x: memref<1xf32, #nki.private_hbm>) target=trn3 {
  %c = nki.constant "0000803F" : memref<1xf32, #nki.shared_hbm>
  %out = nki.alloc : memref<1xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%c
  nisa.dma_copy dst=%c, src=%x
  nki.return %out
}
