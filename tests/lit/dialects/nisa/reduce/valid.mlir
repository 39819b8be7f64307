// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Reductions over free dimensions: the nearest legal neighbours of the kernels in invalid.mlir,
// by the same names.

// CHECK: no findings

// Legal reductions.
nki.kernel @tensor_reduce_operator() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=maximum, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=subtract, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=logical_xor, data=%data, axis=[1]
  nki.return
}

// In PSUM.
nki.kernel @tensor_reduce_buffers() target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.psum>
  %far_column = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.tensor_reduce dst=%far_column, op=add, data=%tile, axis=[1]
  nisa.tensor_reduce dst=%column, op=add, data=%far, axis=[1]
  nki.return
}

// As many as 'data'.
nki.kernel @tensor_reduce_partitions() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1]
  nki.return
}

// The free dimensions.
nki.kernel @tensor_reduce_partition_axis() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x8xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1, 2]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2, 1]
  nki.return
}

// The last one, and the last two.
nki.kernel @tensor_reduce_inner_axis() target=trn3 {
  %rows = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  %row = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4x2xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%rows, op=add, data=%data, axis=[3]
  nisa.tensor_reduce dst=%row, op=add, data=%data, axis=[2, 3]
  nki.return
}

// Axis 2, and the same one counted from the end.
nki.kernel @tensor_reduce_no_axis() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[-1]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[-1]
  nki.return
}

// Four of the five.
nki.kernel @tensor_reduce_five_axes() target=trn3 {
  %dst = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x2x2x2x2x2xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2, 3, 4, 5]
  nki.return
}

// The elements that the axis leaves.
nki.kernel @tensor_reduce_shape() target=trn3 {
  %whole = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%whole, op=add, data=%data, axis=[2]
  nisa.tensor_reduce dst=%other, op=add, data=%data, axis=[2]
  nki.return
}

// They do.
nki.kernel @tensor_reduce_keepdims() target=trn3 {
  %dropped = nki.alloc : memref<128x8x1xf32, #nki.sbuf>
  %moved = nki.alloc : memref<128x8x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dropped, op=add, data=%data, axis=[2], keepdims=true
  nisa.tensor_reduce dst=%moved, op=add, data=%data, axis=[2], keepdims=true
  nki.return
}

// An arithmetic result is.
nki.kernel @tensor_reduce_negate() target=trn3 {
  %dst = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=maximum, data=%data, axis=[1], negate=true
  nki.return
}

// An unpacked type of eight bits.
nki.kernel @tensor_reduce_packed() target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  %packed_column = nki.alloc : memref<128x1xf8E4M3FN, #nki.sbuf>
  nisa.tensor_reduce dst=%packed_column, op=add, data=%tile, axis=[1]
  nisa.tensor_reduce dst=%column, op=add, data=%packed, axis=[1]
  nisa.tensor_reduce dst=%packed_column, op=add, data=%packed, axis=[1]
  nki.return
}

// Both are integers.
nki.kernel @tensor_reduce_bitvec_float() target=trn3 {
  %column = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %float = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %float_column = nki.alloc : memref<128x1xui32, #nki.sbuf>
  nisa.tensor_reduce dst=%column, op=bitwise_and, data=%float, axis=[1]
  nisa.tensor_reduce dst=%float_column, op=bitwise_and, data=%tile, axis=[1]
  nki.return
}

// 8 bits on both sides.
nki.kernel @tensor_reduce_bitvec_widths() target=trn3 {
  %dst = nki.alloc : memref<128x1xi8, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi8, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=bitwise_xor, data=%data, axis=[1]
  nki.return
}

// -------------------- nisa.tensor_partition_reduce

// Some that do.
nki.kernel @tensor_partition_reduce_operator() target=trn3 {
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %int_row = nki.alloc : memref<1x64xi32, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%row, op=add, data=%tile
  nisa.tensor_partition_reduce dst=%row, op=average, data=%tile
  nisa.tensor_partition_reduce dst=%row, op=maximum, data=%tile
  nisa.tensor_partition_reduce dst=%int_row, op=bitwise_or, data=%ints
  nki.return
}

// One partition, the elements in other dimensions.
nki.kernel @tensor_partition_reduce_shape() target=trn3 {
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %short_row = nki.alloc : memref<1x32x2xf32, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%row, op=add, data=%tile
  nisa.tensor_partition_reduce dst=%short_row, op=add, data=%tile
  nki.return
}

// On integers of one width.
nki.kernel @tensor_partition_reduce_bitvec() target=trn3 {
  %int_row = nki.alloc : memref<1x64xi32, #nki.sbuf>
  %words = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %byte_row = nki.alloc : memref<1x64xi8, #nki.sbuf>
  %bytes = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%int_row, op=bitwise_and, data=%words
  nisa.tensor_partition_reduce dst=%byte_row, op=bitwise_and, data=%bytes
  nki.return
}
