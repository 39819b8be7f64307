// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Registers: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

nki.kernel @register_load_buffer() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.register_load dst=%r, src=%tile
  nki.return
}

nki.kernel @register_load_elements(%x: memref<1xi32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.register_load dst=%r, src=%tile
  nisa.register_load dst=%r, src=%x
  nki.return
}

nki.kernel @register_store_buffer() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.register_store dst=%tile, src=%r
  nki.return
}

nki.kernel @register_store_elements() target=trn3 {
  %r = nki.register
  %tile = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.register_store dst=%tile, src=%r
  nki.return
}

nki.kernel @register_indirect(%x: memref<4xi32, #nki.private_hbm>) target=trn3 {
  %r = nki.register
  %row = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %view = nki.view %x offset=0 pattern=[[1, 1]] scalar=%row scale=1 bound=4
  nisa.register_load dst=%r, src=%view
  nki.return
}

nki.kernel @register_compute_operator() target=trn3 {
  %c3 = arith.constant 3 : i32
  %r = nki.register
  nisa.register_compute dst=%r, data1=%c3, data2=%c3, op=subtract
  nki.return
}
