// RUN: not nkijit-opt -p verify-init %s 2>&1 | filecheck --match-full-lines %s

// verify-init follows what has been written of every tensor along a kernel. It reports what is read
// where certainly nothing of it is written, and what is returned, or decides something, and certainly
// comes from what nothing has written. Computing on a tile of which a part is written is no mistake.

// -------------------- whole tiles

// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%a
// CHECK-NEXT: | {{\^+}}
nki.kernel @whole() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
nki.kernel @whole_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// An instruction reads before it writes. What has been told is not told again.
// CHECK: error[read-unwritten]: nisa.reciprocal: 'data' is read, but nothing has written it
nki.kernel @in_place() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%a, data=%a
  nisa.reciprocal dst=%a, data=%a
  nki.return
}

// Operands of every kind are read: an accumulation, a predicate, a tensor that is printed.
// CHECK: error[read-unwritten]: nki.device_print: 'tensor' is read, but nothing has written it
nki.kernel @printed() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nki.device_print "a", %a
  nki.return
}
nki.kernel @printed_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nki.device_print "a", %a
  nki.return
}

// Arguments and constants hold data from the start.
nki.kernel @given_right(%x: memref<2x4xf32, #nki.private_hbm>) target=trn3 {
  %c = nki.constant "0000803F0000C07F000080FF00000080" : memref<1x4xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<2x4xf32, #nki.sbuf>
  %row = nki.view %a offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%row, src=%c
  nki.return %x
}

// -------------------- parts

// Half of the columns is missing.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 32:64]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%a
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written its elements [0:128, 32:64]
// CHECK-NEXT: = result 0: %out, shared_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %a, sbuf 128x64 float32, allocated at {{.*}}
nki.kernel @columns() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
// Both halves make a whole, and the half that is written may be read.
nki.kernel @columns_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %there = nki.view %b offset=0 pattern=[[64, 128], [1, 32]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%there, src=%left
  nisa.memset dst=%right, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// The region is counted in elements of the tile that is read, not of the allocation.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:4, 2:4]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%middle
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written its elements [0:4, 2:4]
// CHECK-NEXT: = result 0: %out, shared_hbm 4x4 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %middle, sbuf 4x4 float32, a view of %a (sbuf 128x64 float32), allocated at {{.*}}
nki.kernel @of_the_view() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %out = nki.alloc : memref<4x4xf32, #nki.shared_hbm>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %middle = nki.view %a offset=2078 pattern=[[64, 4], [1, 4]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%middle
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// Every other column: 4096 of the 128 x 63 elements between the first and the last that is missing.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in 4096 of its elements [0:128, 1:64]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%a
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written 4096 of its elements [0:128, 1:64]
// CHECK-NEXT: = result 0: %out, shared_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %a, sbuf 128x64 float32, allocated at {{.*}}
nki.kernel @even_columns() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %even = nki.view %a offset=0 pattern=[[64, 128], [2, 32]]
  nisa.memset dst=%even, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
// The same columns through a view that runs backwards, and the odd ones besides.
nki.kernel @even_columns_right() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %there = nki.view %b offset=0 pattern=[[64, 128], [1, 32]]
  %even = nki.view %a offset=0 pattern=[[64, 128], [2, 32]]
  %back = nki.view %a offset=62 pattern=[[64, 128], [-2, 32]]
  %odd = nki.view %a offset=63 pattern=[[64, 128], [-2, 32]]
  nisa.memset dst=%even, value=0
  nisa.tensor_copy dst=%there, src=%back
  nisa.memset dst=%odd, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A view that runs backwards counts its own way.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 0:32]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%back
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written its elements [0:128, 0:32]
// CHECK-NEXT: = result 0: %out, shared_hbm 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %back, sbuf 128x64 float32, a view of %a (sbuf 128x64 float32), allocated at {{.*}}
nki.kernel @backwards() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %back = nki.view %a offset=63 pattern=[[64, 128], [-1, 64]]
  nisa.memset dst=%left, value=0
  nisa.tensor_copy dst=%b, src=%back
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// Dimensions in another order.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [3:4, 0:2]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%b, src=%turned
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written its elements [3:4, 0:2]
// CHECK-NEXT: = result 0: %out, shared_hbm 4x2 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %turned, private_hbm 4x2 float32, a view of %a (private_hbm 2x4 float32), allocated at {{.*}}
nki.kernel @permuted(%x: memref<2x3xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<2x4xf32, #nki.private_hbm>
  %b = nki.alloc : memref<4x2xf32, #nki.private_hbm>
  %out = nki.alloc : memref<4x2xf32, #nki.shared_hbm>
  %left = nki.view %a offset=0 pattern=[[4, 2], [1, 3]]
  %turned = nki.view %a offset=0 pattern=[[1, 4], [4, 2]]
  nisa.dma_copy dst=%left, src=%x
  nisa.dma_copy dst=%b, src=%turned
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
nki.kernel @permuted_right(%x: memref<2x3xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<2x4xf32, #nki.private_hbm>
  %b = nki.alloc : memref<3x2xf32, #nki.private_hbm>
  %left = nki.view %a offset=0 pattern=[[4, 2], [1, 3]]
  %turned = nki.view %a offset=0 pattern=[[1, 3], [4, 2]]
  nisa.dma_copy dst=%left, src=%x
  nisa.dma_copy dst=%b, src=%turned
  nki.return
}

// Another data type: the upper half of every element is missing, so every element is.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 0:8]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%a
// CHECK-NEXT: | {{-+}} 'src' is read here, but nothing has written its elements [0:128, 0:8]
// CHECK-NEXT: = result 0: %out, shared_hbm 128x8 float32, allocated at {{.*}}
// CHECK-NEXT: = src: %a, sbuf 128x8 float32, allocated at {{.*}}
nki.kernel @halves() target=trn3 {
  %a = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %out = nki.alloc : memref<128x8xf32, #nki.shared_hbm>
  %low = nki.view %a offset=0 pattern=[[16, 128], [2, 8]] as i16
  nisa.memset dst=%low, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
nki.kernel @halves_right() target=trn3 {
  %a = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %low = nki.view %a offset=0 pattern=[[16, 128], [2, 8]] as i16
  %high = nki.view %a offset=1 pattern=[[16, 128], [2, 8]] as i16
  nisa.memset dst=%low, value=0
  nisa.memset dst=%high, value=0
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// -------------------- what is computed on undefined values

// Rows 20 to 31 are computed on; only the others leave.
nki.kernel @valid_rows_right(%x: memref<20x16xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<20x1xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<32x16xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x16xf32, #nki.sbuf>
  %sum = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %valid = nki.view %a offset=0 pattern=[[16, 20], [1, 16]]
  %stored = nki.view %sum offset=0 pattern=[[1, 20], [1, 1]]
  nisa.dma_copy dst=%valid, src=%x
  nisa.activation dst=%b, op=exp, data=%a
  nisa.tensor_reduce dst=%sum, op=add, data=%b, axis=[1]
  nisa.dma_copy dst=%out, src=%stored
  nki.return %out
}

// A stationary column that is undefined spoils one row of the product.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [8:16, 0:64]
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%out, src=%b
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%p, stationary=%s, moving=%m
// CHECK-NEXT: | {{-+}} 'stationary' is read here, but nothing has written its elements [0:32, 8:16]
// CHECK-NEXT: = result 0: %out, shared_hbm 16x64 float32, allocated at {{.*}}
// CHECK-NEXT: = stationary: %s, sbuf 32x16 float32, allocated at {{.*}}
nki.kernel @column(%x: memref<32x64xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<16x64xf32, #nki.shared_hbm>
  %s = nki.alloc : memref<32x16xf32, #nki.sbuf>
  %m = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %p = nki.alloc : memref<16x64xf32, #nki.psum>
  %b = nki.alloc : memref<16x64xf32, #nki.sbuf>
  %left = nki.view %s offset=0 pattern=[[16, 32], [1, 8]]
  nisa.memset dst=%left, value=1
  nisa.dma_copy dst=%m, src=%x
  nisa.nc_matmul dst=%p, stationary=%s, moving=%m
  nisa.tensor_copy dst=%b, src=%p
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// What overwrites an undefined value ends it; what is written on top of a defined one may bring it.
// CHECK: error[undefined-use]: nisa.dma_copy: 'second', which is returned, gets undefined values in its elements [2:4, 0:4]
nki.kernel @overwritten() target=trn3 {
  %first = nki.alloc : memref<4x4xf32, #nki.shared_hbm>
  %second = nki.alloc : memref<4x4xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %top = nki.view %a offset=0 pattern=[[4, 2], [1, 4]]
  nisa.memset dst=%top, value=1
  nisa.memset dst=%b, value=1
  nisa.dma_copy dst=%second, src=%b
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%second, src=%b
  nisa.memset dst=%b, value=2
  nisa.dma_copy dst=%first, src=%b
  nki.return (%first, %second)
}

// An argument that is written leaves the kernel as well.
// CHECK: error[undefined-use]: nisa.dma_copy: 'x', which is an argument, gets undefined values in its elements [2:4, 0:4]
nki.kernel @argument(%x: memref<4x4xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %top = nki.view %a offset=0 pattern=[[4, 2], [1, 4]]
  nisa.memset dst=%top, value=1
  nisa.dma_copy dst=%x, src=%a
  nki.return
}

// An index that is undefined decides where something is.
// CHECK: error[undefined-use]: nisa.dma_copy: 'index of src' says where 'src' is, and its elements [4:8, 0:1] are undefined
// CHECK-NEXT: --> {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%b, src=%rows
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-init.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%i, data=%a, op0=add, operand0=%one
// CHECK-NEXT: | {{-+}} 'data' is read here, but nothing has written its elements [4:8, 0:1]
// CHECK-NEXT: = index of src: %i, sbuf 8x1 int32, allocated at {{.*}}
// CHECK-NEXT: = data: %a, sbuf 8x1 int32, allocated at {{.*}}
nki.kernel @undefined_index(%x: memref<16x4xf32, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1.0 : f32
  %a = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %b = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=16
  %top = nki.view %a offset=0 pattern=[[1, 4], [1, 1]]
  nisa.memset dst=%top, value=0
  nisa.tensor_scalar dst=%i, data=%a, op0=add, operand0=%one
  nisa.dma_copy dst=%b, src=%rows
  nki.return
}

// A number that goes into a register: loops and addresses depend on it.
// CHECK: error[undefined-use]: nisa.register_load: 'src' goes into a register, and its elements [0:1, 0:1] are undefined
nki.kernel @undefined_register() target=trn3 {
  %a = nki.alloc : memref<1x4xi32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xi32, #nki.sbuf>
  %first = nki.view %a offset=0 pattern=[[4, 1], [1, 2]]
  %last = nki.view %b offset=3 pattern=[[4, 1], [1, 1]]
  %r = nki.register
  nisa.memset dst=%first, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.register_load dst=%r, src=%last
  nki.return
}

// In all iterations of a loop, however often it runs.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:4, 2:4]
nki.kernel @every_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %one = arith.constant 1.0 : f32
  %out = nki.alloc : memref<4x4xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %sum = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[4, 4], [1, 2]]
  nisa.memset dst=%left, value=0
  nisa.memset dst=%sum, value=0
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.tensor_tensor dst=%sum, data1=%sum, data2=%a, op=add
  }
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}
// Written later in the loop: only the first iteration computes on something undefined.
nki.kernel @first_iteration_only_right() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %out = nki.alloc : memref<4x4xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[4, 4], [1, 2]]
  nisa.memset dst=%left, value=0
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.tensor_copy dst=%b, src=%a
    nisa.memset dst=%a, value=0
  }
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// What a loop that may not run leaves in accumulators is not certain.
nki.kernel @accumulators_of_a_loop_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %out = nki.alloc : memref<4x1xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x4xf32, #nki.sbuf>
  %sum = nki.alloc : memref<4x1xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[4, 4], [1, 2]]
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %n = nki.read %r
  nisa.memset dst=%left, value=0
  scf.for %i = %c0 to %n step %c1 : i32 {
    nisa.tensor_scalar_reduce dst=%b, data=%a, op0=add, operand0=%one, reduce_op=add
  }
  nisa.memset dst=%b, value=0
  nisa.tensor_scalar_reduce dst=%b, data=%b, op0=add, operand0=%one, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// -------------------- results

// CHECK: error[output-unwritten]: nki.alloc: 'out' is returned, but nothing has written it
nki.kernel @result() target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return %out
}

// CHECK: warning[output-partly-unwritten]: nki.alloc: 'out' is returned, but nothing has written its elements [1:2, 0:4]
nki.kernel @result_in_part(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%row, src=%x
  nki.return %out
}
// What is neither read nor returned need not be written.
nki.kernel @result_right(%x: memref<2x4xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %other = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// Above 64 MiB it is not said which elements are missing.
// CHECK: warning[output-partly-unwritten]: nki.alloc: 'out' is returned, but nothing has written parts of it
nki.kernel @huge(%x: memref<1x100000xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<100000x100000xf32, #nki.shared_hbm>
  %row = nki.view %out offset=0 pattern=[[100000, 1], [1, 100000]]
  nisa.dma_copy dst=%row, src=%x
  nki.return %out
}

// -------------------- loops

// The rows that a loop goes over: 0, 2, 4.
// CHECK: warning[output-partly-unwritten]: nki.alloc: 'out' is returned, but nothing has written 12 of its elements [1:6, 0:4]
nki.kernel @rows(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %out = nki.alloc : memref<6x4xf32, #nki.shared_hbm>
  scf.for %i = %c0 to %c6 step %c2 : i32 {
    %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=6
    nisa.dma_copy dst=%row, src=%x
  }
  nki.return %out
}
// All rows, each read behind its write.
nki.kernel @rows_right(%x: memref<1x4xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  %out = nki.alloc : memref<6x4xf32, #nki.shared_hbm>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    %row = nki.view %out offset=0 pattern=[[4, 1], [1, 4]] scalar=%i scale=4 bound=6
    nisa.dma_copy dst=%row, src=%x
    nisa.dma_copy dst=%a, src=%row
  }
  nki.return %out
}

// Nothing is there in the first iteration, though there will be in the second.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @first_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.tensor_copy dst=%b, src=%a
    nisa.memset dst=%a, value=0
  }
  nki.return
}
nki.kernel @first_iteration_right() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c6 step %c1 : i32 {
    nisa.memset dst=%a, value=0
    nisa.tensor_copy dst=%b, src=%a
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A loop that never runs writes nothing ...
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @never() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c0 step %c1 : i32 {
    nisa.memset dst=%a, value=0
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// ... one that may run may have written. What a body writes is there in the body.
nki.kernel @perhaps_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %n = nki.read %r
  scf.for %i = %c0 to %n step %c1 : i32 {
    nisa.memset dst=%a, value=0
    nisa.tensor_copy dst=%b, src=%a
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// A loop on a condition may run no time at all. What stands in its body has to be right nevertheless.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
nki.kernel @condition(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  scf.while () : () -> () {
    %n = nki.read %r
    %more = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.tensor_copy dst=%b, src=%a
    nisa.register_load dst=%r, src=%x
    scf.yield
  }
  nki.return
}
nki.kernel @condition_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %a = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  scf.while () : () -> () {
    %n = nki.read %r
    %more = arith.cmpi ne, %n, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.memset dst=%a, value=0
    nisa.register_load dst=%r, src=%x
    scf.yield
  }
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// -------------------- addresses known at run time

// A row that a register picks is read, and nothing has written any row.
// CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written any of it
nki.kernel @register(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %part = nki.view %a offset=0 pattern=[[64, 1], [1, 4]] scalar=%r scale=4 bound=16
  nisa.tensor_copy dst=%b, src=%part
  nki.return
}
// Some columns may be the ones that are written, wherever they are.
nki.kernel @register_right(%x: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<1x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %r = nki.register
  nisa.register_load dst=%r, src=%x
  %part = nki.view %a offset=0 pattern=[[64, 1], [1, 4]] scalar=%r scale=4 bound=16
  %first = nki.view %a offset=0 pattern=[[64, 1], [1, 4]]
  nisa.memset dst=%part, value=0
  nisa.tensor_copy dst=%b, src=%first
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// The index itself is read.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'index of src' is read, but nothing has written it
nki.kernel @index(%x: memref<16x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %b = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=16
  nisa.dma_copy dst=%b, src=%rows
  nki.return
}
nki.kernel @index_right(%x: memref<16x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %b = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=16
  nisa.memset dst=%i, value=0
  nisa.dma_copy dst=%b, src=%rows
  nki.return
}

// -------------------- writes that may leave something out

// What an instruction writes in part may have been written ...
nki.kernel @partial_right() target=trn3 {
  %a = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %src = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<32x64xui8, #nki.sbuf>
  nisa.memset dst=%src, value=0
  nisa.memset dst=%mask, value=1
  nisa.tensor_copy_predicated dst=%a, src=%src, predicate=%mask
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}
// ... but the rest of the tile has not.
// CHECK: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:32, 32:64]
// CHECK: | {{-+}} 'src' is read here, but nothing has written its elements [0:32, 32:64]
nki.kernel @partial() target=trn3 {
  %a = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x64xf32, #nki.sbuf>
  %out = nki.alloc : memref<32x64xf32, #nki.shared_hbm>
  %src = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %mask = nki.alloc : memref<32x32xui8, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 32], [1, 32]]
  nisa.memset dst=%src, value=0
  nisa.memset dst=%mask, value=1
  nisa.tensor_copy_predicated dst=%left, src=%src, predicate=%mask
  nisa.tensor_copy dst=%b, src=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// The values of a topk are not in all of its tile.
nki.kernel @topk_right() target=trn3 {
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %src = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %b = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  nisa.memset dst=%src, value=0
  nisa.topk val_dst=%val, idx_dst=%idx, src=%src, n=64
  nisa.tensor_copy dst=%b, src=%val
  nki.return
}

// An index out of bounds that is skipped writes nothing.
nki.kernel @skip_right(%x: memref<8x4xf32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %out = nki.alloc : memref<8x4xf32, #nki.shared_hbm>
  %rows = nki.view %out offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=8
  nisa.memset dst=%i, value=0
  nisa.dma_copy dst=%rows, src=%x, oob_mode=skip
  nki.return %out
}

// -------------------- two cores

// Each core writes half of a shared tensor. One reads the other half behind a barrier.
nki.kernel @halves_of_cores_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  %first = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  %second = nki.view %out offset=4 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%first, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%t, src=%second
  nki.return %out
}
nki.kernel @halves_of_cores_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %second = nki.view %out offset=4 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%second, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}

// Before the barrier the other core has not written yet: it does so behind it.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written it
nki.kernel @too_early_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  nisa.dma_copy dst=%t, src=%out
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}
nki.kernel @too_early_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// Without a barrier it may have been in time; that is a race, not a tensor that nobody writes.
nki.kernel @race_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  nisa.dma_copy dst=%t, src=%out
  nki.return %out
}
nki.kernel @race_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}

// One core meets the other in a loop, the other in a row of barriers.
nki.kernel @barriers_in_a_loop_right_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  %t = nki.alloc : memref<1x4xf32, #nki.sbuf>
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    nisa.core_barrier data=%out, cores=[0, 1]
  }
  nisa.dma_copy dst=%t, src=%out
  nki.return %out
}
nki.kernel @barriers_in_a_loop_right_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<1x4xf32, #nki.shared_hbm>
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out, src=%x
  nisa.core_barrier data=%out, cores=[0, 1]
  nki.return %out
}

// Half of the result is written by neither core. What is private is a core's own.
// CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written it
// CHECK: warning[output-partly-unwritten]: nki.alloc: 'out' is returned, but nothing has written its elements [1:2, 0:4]
nki.kernel @neither_core0(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %mine = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  nisa.dma_copy dst=%mine, src=%x
  nki.return %out
}
nki.kernel @neither_core1(%x: memref<1x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %mine = nki.alloc : memref<1x4xf32, #nki.private_hbm>
  %first = nki.view %out offset=0 pattern=[[4, 1], [1, 4]]
  nisa.dma_copy dst=%first, src=%mine
  nki.return %out
}

// CHECK: 24 errors and 4 warnings
