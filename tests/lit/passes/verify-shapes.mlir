// RUN: not nkijit-opt -p verify-shapes %s 2>&1 | filecheck --match-full-lines %s

// verify-shapes reports tiles that do not fit the hardware, the instruction or each other, and
// nothing else.

// Mistakes of every other category: not this pass's business.
nki.kernel @other_categories(%x: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.exponential dst=%tile, src=%tile
  nisa.reciprocal dst=%tile, data=%x
  nisa.reciprocal dst=%packed, data=%tile
  nisa.tensor_tensor dst=%tile, data1=%tile, data2=%tile, op=gelu
  nki.return
}

// Views count by their own shape: rows and columns of one tile do not fit together here.
// CHECK: error[alloc-partitions]: nki.alloc: a tile in sbuf has at most 128 partitions, this one has 256
// CHECK: error[partitions-match]: nisa.tensor_copy: different numbers of partitions: 'src' has 64, 'dst' has 128
// CHECK: error[free-size-match]: nisa.tensor_copy: different numbers of elements per partition: 'src' has 32, 'dst' has 64
// CHECK-NEXT: --> {{.*}}verify-shapes.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%tile, src=%columns
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = src: %columns, sbuf 128x32 float32, a view of %tile (sbuf 128x64 float32), allocated at {{.*}}
// CHECK-NEXT: = dst: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = help: slice the larger one, tile[:, 0:32], or allocate 'dst' with 32 elements per partition
// CHECK: error[reduce-axes]: nisa.tensor_reduce: axis is [0]; legal for this tile are [1]
// CHECK: error[pattern]: nisa.iota: 'pattern' has 32 elements, 'dst' has 64 per partition
nki.kernel @shapes() target=trn3 {
  %tall = nki.alloc : memref<256x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %rows = nki.view %tile offset=4096 pattern=[[64, 64], [1, 64]]
  %columns = nki.view %tile offset=0 pattern=[[64, 128], [2, 32]]
  nisa.tensor_copy dst=%tile, src=%rows
  nisa.tensor_copy dst=%tile, src=%columns
  nisa.tensor_reduce dst=%column, op=add, data=%tile, axis=[0]
  nisa.iota dst=%tile, pattern=[[1, 32]]
  nki.return
}

// CHECK: 5 errors
