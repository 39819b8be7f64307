// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Registers: what the rules forbid. The kernel of the same name in valid.mlir differs in the one
// thing that is wrong and is silent.

// A register is loaded from SBUF or HBM, not from PSUM.
// CHECK: error[buffer]: nisa.register_load: 'src' must be in hbm or sbuf, it is in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_load dst=%r, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %tile, psum 1x1 int32, allocated at {{.*}}
// CHECK-NEXT: = help: copy tile to a tile in SBUF first, with nisa.tensor_copy, and pass that
nki.kernel @register_load_buffer() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.psum>
  nisa.register_load dst=%r, src=%tile
  nki.return
}

// It holds one element.
// CHECK: error[one-element]: nisa.register_load: 'src' must have one element, it has 2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_load dst=%r, src=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %tile, sbuf 2x1 int32, allocated at {{.*}}
// CHECK-NEXT: = help: take one element of the tensor, e.g. tensor[0:1, 0:1]
// CHECK: error[one-element]: nisa.register_load: 'src' must have one element, it has 2
nki.kernel @register_load_elements(%x: memref<2xi32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<2x1xi32, #nki.sbuf>
  nisa.register_load dst=%r, src=%tile
  nisa.register_load dst=%r, src=%x
  nki.return
}

// A register is stored in SBUF or HBM, not in PSUM.
// CHECK: error[buffer]: nisa.register_store: 'dst' must be in hbm or sbuf, it is in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_store dst=%tile, src=%r
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %tile, psum 1x1 int32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.tensor_copy
nki.kernel @register_store_buffer() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.psum>
  nisa.register_store dst=%tile, src=%r
  nki.return
}

// One element is written.
// CHECK: error[one-element]: nisa.register_store: 'dst' must have one element, it has 2
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_store dst=%tile, src=%r
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %tile, sbuf 1x2 int32, allocated at {{.*}}
// CHECK-NEXT: = help: take one element of the tensor, e.g. tensor[0:1, 0:1]
nki.kernel @register_store_elements() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x2xi32, #nki.sbuf>
  nisa.register_store dst=%tile, src=%r
  nki.return
}

// A register is read and written with no vector of indices.
// CHECK: error[indirect-operand]: nisa.register_load: 'src' is addressed with a vector of indices, which it does not take
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_load dst=%r, src=%view
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %view, private_hbm 1 int32, a view of %x (private_hbm 4 int32), an argument of the kernel
// CHECK-NEXT: = help: gather into a tile first, with nisa.tensor_copy for .indirect() and nisa.dma_copy for vector_offset=, and pass that tile
nki.kernel @register_indirect(%x: memref<4xi32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %row = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[1, 1]] vector=%row scale=1 bound=4
  nisa.register_load dst=%r, src=%view
  nki.return
}

// Sequencers do not compare.
// CHECK: error[register-operator]: nisa.register_compute: 'op' is nl.maximum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.register_compute dst=%r, data1=%c3, data2=%c3, op=maximum
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: compute on a (1, 1) tile, e.g. with nisa.tensor_scalar, and load the result with nisa.register_load
nki.kernel @register_compute_operator() target=trn3 {
  %c3 = arith.constant 3 : i32
  %r = nki.register
  nisa.register_compute dst=%r, data1=%c3, data2=%c3, op=maximum
  nki.return
}

// CHECK: 7 errors
