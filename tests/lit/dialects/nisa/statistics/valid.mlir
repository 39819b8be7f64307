// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Means and variances: the nearest legal neighbours of the kernels in invalid.mlir, by the same
// names.

// CHECK: no findings

// -------------------- nisa.bn_stats

// Both are in PSUM.
nki.kernel @bn_stats_buffers() target=trn3 {
  %near_stats = nki.alloc : memref<128x6xf32, #nki.psum>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %near = nki.alloc : memref<128x64xf32, #nki.psum>
  nisa.bn_stats dst=%near_stats, data=%tile
  nisa.bn_stats dst=%stats, data=%near
  nki.return
}

// As many.
nki.kernel @bn_stats_partitions() target=trn3 {
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.bn_stats dst=%stats, data=%tile
  nki.return
}

// As many as it takes.
nki.kernel @bn_stats_size() target=trn3 {
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %long = nki.alloc : memref<128x512xf32, #nki.sbuf>
  nisa.bn_stats dst=%stats, data=%long
  nki.return
}

// Two triples, one below the other.
nki.kernel @bn_stats_results() target=trn3 {
  %three = nki.alloc : memref<128x2x3xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %seven = nki.alloc : memref<128x6xf32, #nki.sbuf>
  nisa.bn_stats dst=%three, data=%tile
  nisa.bn_stats dst=%seven, data=%tile
  nki.return
}

// Types that they convert.
nki.kernel @bn_stats_packed() target=trn3 {
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %narrow = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  nisa.bn_stats dst=%stats, data=%tile
  nisa.bn_stats dst=%stats, data=%narrow
  nki.return
}

// -------------------- nisa.bn_aggr

// Three triples.
nki.kernel @bn_aggr_triples() target=trn3 {
  %means = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %seven = nki.alloc : memref<128x9xf32, #nki.sbuf>
  nisa.bn_aggr dst=%means, data=%seven
  nki.return
}

// For both.
nki.kernel @bn_aggr_results() target=trn3 {
  %means = nki.alloc : memref<128x2xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %three = nki.alloc : memref<128x1x2xf32, #nki.sbuf>
  nisa.bn_aggr dst=%means, data=%stats
  nisa.bn_aggr dst=%three, data=%stats
  nki.return
}
