// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Scans: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.tensor_tensor_scan

// Arithmetic operators of two operands.
nki.kernel @tensor_tensor_scan_operators() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=power, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=maximum, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=subtract
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=logical_and
  nki.return
}

// trn3 is NeuronCore-v4.
nki.kernel @tensor_tensor_scan_generation() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=abs_max, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=abs_min
  nki.return
}

// All operands are in PSUM, one at a time.
nki.kernel @tensor_tensor_scan_buffers() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.tensor_tensor_scan dst=%near, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%near, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%near, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%near_column, op0=multiply, op1=add
  nki.return
}

// One of them, and 'initial', which is not read element by element.
nki.kernel @tensor_tensor_scan_both_in_psum() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  %near_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.tensor_tensor_scan dst=%tile, data0=%near, data1=%tile, initial=%near_column, op0=multiply, op1=add
  nki.return
}

// As many.
nki.kernel @tensor_tensor_scan_partitions() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %other = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%other, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%other, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%other, initial=%zero, op0=multiply, op1=add
  nki.return
}

// As many, in other dimensions.
nki.kernel @tensor_tensor_scan_free_size() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %wide = nki.alloc : memref<128x4x16xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%wide, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%wide, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%wide, initial=%zero, op0=multiply, op1=add
  nki.return
}

// (P, 1).
nki.kernel @tensor_tensor_scan_column() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %near_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%column, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%near_column, op0=multiply, op1=add
  nki.return
}

// Types that they convert.
nki.kernel @tensor_tensor_scan_packed() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %narrow_column = nki.alloc : memref<128x1xbf16, #nki.sbuf>
  nisa.tensor_tensor_scan dst=%narrow, data0=%tile, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%ints, data1=%tile, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%bytes, initial=%zero, op0=multiply, op1=add
  nisa.tensor_tensor_scan dst=%tile, data0=%tile, data1=%tile, initial=%narrow_column, op0=multiply, op1=add
  nki.return
}
