// RUN: not nkijit-opt -p verify-dtypes %s 2>&1 | filecheck --match-full-lines %s

// verify-dtypes reports operands of data types that the instruction does not take, and nothing else.

// Mistakes of every other category: not this pass's business.
nki.kernel @other_categories(%x: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.reciprocal dst=%tile, data=%x
  nisa.reciprocal dst=%few, data=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=gelu
  nki.return
}

// A view has the data type that it says, not that of its allocation.
// CHECK: error[bitvec-dtype]: nisa.tensor_tensor: 'data1' must be of an integer type, it is float32
// CHECK: error[dtype]: nisa.activation: 'scale' must be float32, it is int32
// CHECK-NEXT: --> {{.*}}verify-dtypes.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%tile, op=exp, data=%tile, scale=%scale
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = scale: %scale, sbuf 128x1 int32, a view of %column (sbuf 128x1 float32), allocated at {{.*}}
// CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
// CHECK: error[memset-packed]: nisa.memset: 'dst' is float8_e5m2_x4 and can only be set to 0, 'value' is 1
// CHECK: error[matmul-dtype]: nisa.nc_matmul: bfloat16 and float32 cannot be multiplied
nki.kernel @dtypes() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bits = nki.view %tile offset=0 pattern=[[64, 128], [1, 64]] as i32
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %scale = nki.view %column offset=0 pattern=[[1, 128], [1, 1]] as i32
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %narrow = nki.alloc : memref<128x128xbf16, #nki.sbuf>
  %product = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.tensor_tensor dst=%bits, data1=%bits, data2=%bits, op=bitwise_or
  nisa.tensor_tensor dst=%bits, data1=%tile, data2=%bits, op=bitwise_or
  nisa.activation dst=%tile, op=exp, data=%tile, scale=%scale
  nisa.memset dst=%packed, value=1
  nisa.nc_matmul dst=%product, stationary=%narrow, moving=%tile
  nki.return
}

// CHECK: 4 errors
