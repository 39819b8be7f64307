// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Reductions over free dimensions: what the rules forbid. A kernel here breaks one rule, for one
// operand or argument after the other; where it cannot break one alone, its comment says so. The
// kernel of the same name in valid.mlir differs in that one thing and is silent.

// The operator is not marked as a legal reduction: power, abs_max, a unary one, an activation
// function.
// CHECK: error[reducible]: nisa.tensor_reduce: nl.power is not a reduction operator
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%dst, op=power, data=%data, axis=[1]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass an operator that reduces, e.g. op=nl.add or op=nl.maximum
// CHECK: error[reducible]: nisa.tensor_reduce: nl.abs_max is not a reduction operator
// CHECK: error[reducible]: nisa.tensor_reduce: nl.abs is not a reduction operator
// CHECK: error[reducible]: nisa.tensor_reduce: nl.gelu is not a reduction operator
nki.kernel @tensor_reduce_operator() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=power, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=abs_max, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=abs, data=%data, axis=[1]
  nisa.tensor_reduce dst=%dst, op=gelu, data=%data, axis=[1]
  nki.return
}

// 'dst', then 'data', is in HBM.
// CHECK: error[buffer]: nisa.tensor_reduce: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%far_column, op=add, data=%tile, axis=[1]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far_column, private_hbm 128x1 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.tensor_reduce: 'data' must be in sbuf or psum, it is in private_hbm
nki.kernel @tensor_reduce_buffers() target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %far_column = nki.alloc : memref<128x1xf32, #nki.private_hbm>
  nisa.tensor_reduce dst=%far_column, op=add, data=%tile, axis=[1]
  nisa.tensor_reduce dst=%column, op=add, data=%far, axis=[1]
  nki.return
}

// 'dst' has one partition, as if partitions were reduced.
// CHECK: error[partitions-match]: nisa.tensor_reduce: different numbers of partitions: 'data' has 128, 'dst' has 1
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %dst, sbuf 1x1 float32, allocated at {{.*}}
// CHECK-NEXT: = help: each partition has its own result: allocate 'dst' with 128 partitions; nisa.tensor_partition_reduce combines partitions
nki.kernel @tensor_reduce_partitions() target=trn3 {
  %dst = nki.alloc : memref<1x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1]
  nki.return
}

// Axis 0 is the partition dimension, alone or with others.
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [0]; legal for this tile are [2], [1, 2]
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[0]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %data, sbuf 128x8x8 float32, allocated at {{.*}}
// CHECK-NEXT: = help: dim 0 is the partition dimension: add up partitions with nisa.nc_matmul, data as 'moving' and a (P, 1) tile of ones as 'stationary'; for other operators transpose first with nisa.nc_transpose, and reduce axis 1
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [0, 1, 2]; legal for this tile are [2], [1, 2]
nki.kernel @tensor_reduce_partition_axis() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x8xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[0]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[0, 1, 2]
  nki.return
}

// The reduced dimension is not the last one, or leaves one out in between.
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [2]; legal for this tile are [3], [2, 3], [1, 2, 3]
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 3]; legal for this tile are [3], [2, 3], [1, 2, 3]
nki.kernel @tensor_reduce_inner_axis() target=trn3 {
  %rows = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  %row = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4x2xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%rows, op=add, data=%data, axis=[2]
  nisa.tensor_reduce dst=%row, op=add, data=%data, axis=[1, 3]
  nki.return
}

// No axis, one that does not exist, and one given twice, the second time from the end.
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is []; legal for this tile are [2], [1, 2]
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [3]; legal for this tile are [2], [1, 2]
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [2, 2]; legal for this tile are [2], [1, 2]
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [2, -1]; legal for this tile are [2], [1, 2]
nki.kernel @tensor_reduce_no_axis() target=trn3 {
  %dst = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[3]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2, 2]
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[2, -1]
  nki.return
}

// One instruction reduces four dimensions, not five.
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 2, 3, 4, 5]; legal for this tile are [5], [4, 5], [3, 4, 5], [2, 3, 4, 5]
nki.kernel @tensor_reduce_five_axes() target=trn3 {
  %dst = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x2x2x2x2x2xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=add, data=%data, axis=[1, 2, 3, 4, 5]
  nki.return
}

// 'dst' has the elements of 'data', or of another axis.
// CHECK: error[reduce-shape]: nisa.tensor_reduce: reducing axes [2] leaves 8 elements per partition, 'dst' has 32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%whole, op=add, data=%data, axis=[2]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %whole, sbuf 128x8x4 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %data, sbuf 128x8x4 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with the shape (128, 8)
// CHECK: error[reduce-shape]: nisa.tensor_reduce: reducing axes [2] leaves 8 elements per partition, 'dst' has 4
nki.kernel @tensor_reduce_shape() target=trn3 {
  %whole = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  %other = nki.alloc : memref<128x4xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%whole, op=add, data=%data, axis=[2]
  nisa.tensor_reduce dst=%other, op=add, data=%data, axis=[2]
  nki.return
}

// With keepdims the reduced dimensions stay, at size 1, and stay in their places.
// CHECK: error[reduce-shape]: nisa.tensor_reduce: with keepdims 'dst' has shape 128x8x1, it is 128x8
// CHECK: error[reduce-shape]: nisa.tensor_reduce: with keepdims 'dst' has shape 128x8x1, it is 128x1x8
nki.kernel @tensor_reduce_keepdims() target=trn3 {
  %dropped = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %moved = nki.alloc : memref<128x1x8xf32, #nki.sbuf>
  %data = nki.alloc : memref<128x8x4xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%dropped, op=add, data=%data, axis=[2], keepdims=true
  nisa.tensor_reduce dst=%moved, op=add, data=%data, axis=[2], keepdims=true
  nki.return
}

// A bit pattern is not negated.
// CHECK: error[negate-arithmetic]: nisa.tensor_reduce: 'negate' is True, but nl.bitwise_or is a bitvec operator
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%dst, op=bitwise_or, data=%data, axis=[1], negate=true
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: leave negate out
nki.kernel @tensor_reduce_negate() target=trn3 {
  %dst = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=bitwise_or, data=%data, axis=[1], negate=true
  nki.return
}

// 'dst', then 'data', then both are of a packed type, which engines do not convert.
// CHECK: error[dtype-computable]: nisa.tensor_reduce: engines do not convert 'dst', a float8_e4m3fn_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%packed_column, op=add, data=%tile, axis=[1]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed_column, sbuf 128x1 float8_e4m3fn_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.tensor_reduce: engines do not convert 'data', a float8_e4m3fn_x4
// CHECK: error[dtype-computable]: nisa.tensor_reduce: engines do not convert 'dst', a float8_e4m3fn_x4
nki.kernel @tensor_reduce_packed() target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %packed_column = nki.alloc : memref<128x1x!nki.f8E4M3FNx4, #nki.sbuf>
  nisa.tensor_reduce dst=%packed_column, op=add, data=%tile, axis=[1]
  nisa.tensor_reduce dst=%column, op=add, data=%packed, axis=[1]
  nisa.tensor_reduce dst=%packed_column, op=add, data=%packed, axis=[1]
  nki.return
}

// 'data', then 'dst', is of a float type under a bitvec operator.
// CHECK: error[bitvec-dtype]: nisa.tensor_reduce: 'data' must be of an integer type, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_reduce dst=%column, op=bitwise_and, data=%float, axis=[1]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %float, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: use nl.logical_and for values that are true or false; for bit patterns view the tile as an integer type of the same width, e.g. float.view(nl.int32)
// CHECK: error[bitvec-dtype]: nisa.tensor_reduce: 'dst' must be of an integer type, it is float32
nki.kernel @tensor_reduce_bitvec_float() target=trn3 {
  %column = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %float = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %float_column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_reduce dst=%column, op=bitwise_and, data=%float, axis=[1]
  nisa.tensor_reduce dst=%float_column, op=bitwise_and, data=%tile, axis=[1]
  nki.return
}

// A bitvec reduction from 8 to 32 bits.
// CHECK: error[bitvec-dtype]: nisa.tensor_reduce: integers of different widths: 'data' is int8, 'dst' is int32
nki.kernel @tensor_reduce_bitvec_widths() target=trn3 {
  %dst = nki.alloc : memref<128x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<128x64xi8, #nki.sbuf>
  nisa.tensor_reduce dst=%dst, op=bitwise_xor, data=%data, axis=[1]
  nki.return
}

// -------------------- nisa.tensor_partition_reduce

// Operators that do not reduce over partitions.
// CHECK: error[reducible]: nisa.tensor_partition_reduce: nl.multiply does not reduce over partitions
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_partition_reduce dst=%row, op=multiply, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: use one of nl.add, nl.average, nl.maximum, nl.bitwise_or, nl.bitwise_and, or transpose and use nisa.tensor_reduce
// CHECK: error[reducible]: nisa.tensor_partition_reduce: nl.minimum does not reduce over partitions
// CHECK: error[reducible]: nisa.tensor_partition_reduce: nl.bypass does not reduce over partitions
// CHECK: error[reducible]: nisa.tensor_partition_reduce: nl.bitwise_xor does not reduce over partitions
nki.kernel @tensor_partition_reduce_operator() target=trn3 {
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %int_row = nki.alloc : memref<1x64xi32, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%row, op=multiply, data=%tile
  nisa.tensor_partition_reduce dst=%row, op=minimum, data=%tile
  nisa.tensor_partition_reduce dst=%row, op=bypass, data=%tile
  nisa.tensor_partition_reduce dst=%int_row, op=bitwise_xor, data=%ints
  nki.return
}

// 'dst' has two partitions, or half of the elements.
// CHECK: error[reduce-shape]: nisa.tensor_partition_reduce: 'dst' must have 1 partition of 64 elements, it has 2 of 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_partition_reduce dst=%two_rows, op=add, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %two_rows, sbuf 2x64 float32, allocated at {{.*}}
// CHECK-NEXT: = data: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate dst with one partition and the free dimensions of data
// CHECK: error[reduce-shape]: nisa.tensor_partition_reduce: 'dst' must have 1 partition of 64 elements, it has 1 of 32
nki.kernel @tensor_partition_reduce_shape() target=trn3 {
  %two_rows = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %short_row = nki.alloc : memref<1x32xf32, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%two_rows, op=add, data=%tile
  nisa.tensor_partition_reduce dst=%short_row, op=add, data=%tile
  nki.return
}

// A bitvec operator on floats, or from 32 to 8 bits.
// CHECK: error[bitvec-dtype]: nisa.tensor_partition_reduce: 'data' must be of an integer type, it is float32
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_partition_reduce dst=%row, op=bitwise_and, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: use nl.logical_and for values that are true or false; for bit patterns view the tile as an integer type of the same width, e.g. tile.view(nl.int32)
// CHECK: error[bitvec-dtype]: nisa.tensor_partition_reduce: integers of different widths: 'data' is int32, 'dst' is int8
nki.kernel @tensor_partition_reduce_bitvec() target=trn3 {
  %row = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %byte_row = nki.alloc : memref<1x64xi8, #nki.sbuf>
  %ints = nki.alloc : memref<128x64xi32, #nki.sbuf>
  nisa.tensor_partition_reduce dst=%row, op=bitwise_and, data=%tile
  nisa.tensor_partition_reduce dst=%byte_row, op=bitwise_and, data=%ints
  nki.return
}

// CHECK: 35 errors
