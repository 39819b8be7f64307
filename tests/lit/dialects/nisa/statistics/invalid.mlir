// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Means and variances: what the rules forbid. A kernel here breaks one rule, for one operand or
// argument after the other; where it cannot break one alone, its comment says so. The kernel of
// the same name in valid.mlir differs in that one thing and is silent.

// -------------------- nisa.bn_stats

// Each operand in turn is in HBM, which the engine cannot reach.
// CHECK: error[buffer]: nisa.bn_stats: 'dst' must be in sbuf or psum, it is in private_hbm
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.bn_stats dst=%far_stats, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %far_stats, private_hbm 128x6 float32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.dma_copy (nl.store)
// CHECK: error[buffer]: nisa.bn_stats: 'data' must be in sbuf or psum, it is in private_hbm
nki.kernel @bn_stats_buffers() target=trn3 {
  %far_stats = nki.alloc : memref<128x6xf32, #nki.private_hbm>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %far = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  nisa.bn_stats dst=%far_stats, data=%tile
  nisa.bn_stats dst=%stats, data=%far
  nki.return
}

// 'dst' has fewer partitions than 'data'.
// CHECK: error[partitions-match]: nisa.bn_stats: different numbers of partitions: 'data' has 128, 'dst' has 64
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.bn_stats dst=%few_stats, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %tile, sbuf 128x64 float32, allocated at {{.*}}
// CHECK-NEXT: = dst: %few_stats, sbuf 64x6 float32, allocated at {{.*}}
// CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read tile[0:64] only
nki.kernel @bn_stats_partitions() target=trn3 {
  %few_stats = nki.alloc : memref<64x6xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.bn_stats dst=%few_stats, data=%tile
  nki.return
}

// One element more than the instruction takes.
// CHECK: error[statistics-shape]: nisa.bn_stats: 'data' has 513 elements per partition, at most 512 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.bn_stats dst=%stats, data=%long
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %long, sbuf 128x513 float32, allocated at {{.*}}
// CHECK-NEXT: = help: call bn_stats on tiles of at most nl.tile_size.bn_stats_fmax elements per partition, each into 6 elements of one tile, and bn_aggr on that tile
nki.kernel @bn_stats_size() target=trn3 {
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %long = nki.alloc : memref<128x513xf32, #nki.sbuf>
  nisa.bn_stats dst=%stats, data=%long
  nki.return
}

// 'dst' has room for one triple only, or for more than two.
// CHECK: error[statistics-shape]: nisa.bn_stats: 'dst' must have 6 elements per partition, it has 3
// CHECK: error[statistics-shape]: nisa.bn_stats: 'dst' must have 6 elements per partition, it has 7
nki.kernel @bn_stats_results() target=trn3 {
  %three = nki.alloc : memref<128x3xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %seven = nki.alloc : memref<128x7xf32, #nki.sbuf>
  nisa.bn_stats dst=%three, data=%tile
  nisa.bn_stats dst=%seven, data=%tile
  nki.return
}

// A tile is of a packed type, which engines do not convert.
// CHECK: error[dtype-computable]: nisa.bn_stats: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.bn_stats dst=%packed_stats, data=%tile
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %packed_stats, sbuf 128x6 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
// CHECK: error[dtype-computable]: nisa.bn_stats: engines do not convert 'data', a float8_e5m2_x4
nki.kernel @bn_stats_packed() target=trn3 {
  %packed_stats = nki.alloc : memref<128x6x!nki.f8E5M2x4, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.bn_stats dst=%packed_stats, data=%tile
  nisa.bn_stats dst=%stats, data=%packed
  nki.return
}

// -------------------- nisa.bn_aggr

// Seven elements are not triples.
// CHECK: error[statistics-shape]: nisa.bn_aggr: 'data' has 7 elements per partition, which are not triples
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.bn_aggr dst=%means, data=%seven
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = data: %seven, sbuf 128x7 float32, allocated at {{.*}}
// CHECK-NEXT: = help: call bn_stats on tiles of at most nl.tile_size.bn_stats_fmax elements per partition, each into 6 elements of one tile, and bn_aggr on that tile
nki.kernel @bn_aggr_triples() target=trn3 {
  %means = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %seven = nki.alloc : memref<128x7xf32, #nki.sbuf>
  nisa.bn_aggr dst=%means, data=%seven
  nki.return
}

// 'dst' has room for the mean only, or for more than mean and variance.
// CHECK: error[statistics-shape]: nisa.bn_aggr: 'dst' must have 2 elements per partition, it has 1
// CHECK: error[statistics-shape]: nisa.bn_aggr: 'dst' must have 2 elements per partition, it has 3
nki.kernel @bn_aggr_results() target=trn3 {
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x3xf32, #nki.sbuf>
  nisa.bn_aggr dst=%column, data=%stats
  nisa.bn_aggr dst=%three, data=%stats
  nki.return
}

// CHECK: 11 errors
