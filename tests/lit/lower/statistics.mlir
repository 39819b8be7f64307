// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// CHECK: kernel moments, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 2080 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:512, float32], value=0 statistics.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 BN_STATS dst=stats[sbuf 2048, 0:128, 1:6, float32], data=x[sbuf 0, 0:128, 1:512, float32] statistics.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 BN_AGGR dst=moments[sbuf 2072, 0:128, 1:2, float32], data=stats[sbuf 2048, 0:128, 1:6, float32] statistics.mlir:{{[0-9]+}}
nki.kernel @moments() target=trn3 {
  %x = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %stats = nki.alloc : memref<128x6xf32, #nki.sbuf>
  %moments = nki.alloc : memref<128x2xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.bn_stats dst=%stats, data=%x
  nisa.bn_aggr dst=%moments, data=%stats
  nki.return
}
