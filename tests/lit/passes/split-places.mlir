// RUN: not nkijit-opt --split-input-file -p verify %s 2>&1 | filecheck --match-full-lines %s

// The parts of a file that is split have the lines of the file.
nki.kernel @first() target=trn3 {
  nki.return
}

// -----

nki.kernel @second() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%tile, op=exp, data=%tile
  nki.return
}

// CHECK: error[read-unwritten]: nisa.activation: 'data' is read, but nothing has written it
// CHECK-NEXT:  --> {{.*}}split-places.mlir:12:3
// CHECK-NEXT:    |
// CHECK-NEXT: 12 |   nisa.activation dst=%tile, op=exp, data=%tile
// CHECK-NEXT:    |   ^^^^^^^^^^^^^^^
// CHECK-NEXT:    = data: %tile, sbuf 128x64 float32, allocated at {{.*}}split-places.mlir:11:11
