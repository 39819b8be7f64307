// RUN: not nkijit verify -p verify-constants %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Constant data is written, as a whole and in a part.
// CHECK: error[constant-written]: nisa.dma_copy: 'dst' is constant data
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%c, src=%x
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %c, shared_hbm 4x8 float32, a constant, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tensor of nl.ndarray, e.g. after copying the constant to it
// CHECK: error[constant-written]: nisa.dma_copy: 'dst' is constant data
nki.kernel @constant_written(%x: memref<4x8xf32, #nki.private_hbm>) target=trn3 {
  %c = nki.constant zlib "eNpjYBhYAAAAgAAB" : memref<4x8xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%c, src=%x
  %row = nki.view %c offset=8 pattern=[[8, 1], [1, 8]]
  %from = nki.view %x offset=8 pattern=[[8, 1], [1, 8]]
  nisa.dma_copy dst=%row, src=%from
  nki.return
}

// CHECK: 2 errors
