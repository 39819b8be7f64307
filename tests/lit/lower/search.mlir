// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// CHECK: kernel best, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 892 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 6 instructions
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 search.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=scores[sbuf 256, 0:32, 1:4, bfloat16], value=0 signal(1) search.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MAX8 dst=best[sbuf 264, 0:128, 1:8, float32], src=x[sbuf 0, 0:128, 1:64, float32] search.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 FIND_INDEX8 dst=where[sbuf 296, 0:128, 1:8, uint32], data=x[sbuf 0, 0:128, 1:64, float32], vals=best[sbuf 264, 0:128, 1:8, float32] search.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 MATCH_REPLACE8 dst=y[sbuf 328, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], vals=best[sbuf 264, 0:128, 1:8, float32], imm=-7 search.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 MATCH_REPLACE8 dst=y[sbuf 328, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], vals=best[sbuf 264, 0:128, 1:8, float32], dst_idx=where[sbuf 296, 0:128, 1:8, uint32], imm=-7 search.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 2 instructions
// CHECK-NEXT: 6 wait(vector>=1) TOPK val_dst=val[sbuf 616, 0:32, 1:8, bfloat16], idx_dst=idx[sbuf 584, 0:32, 1:8, uint32], src=scores[sbuf 256, 0:32, 1:4, bfloat16], n=60 search.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 NONZERO_WITH_COUNT dst=found[sbuf 632, 0:128, 1:65, int32], src=x[sbuf 0, 0:128, 1:64, float32] search.mlir:{{[0-9]+}}
nki.kernel @best() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %best = nki.alloc : memref<128x8xf32, #nki.sbuf>
  %where = nki.alloc : memref<128x8xui32, #nki.sbuf>
  %scores = nki.alloc : memref<32x4xbf16, #nki.sbuf>
  %val = nki.alloc : memref<32x8xbf16, #nki.sbuf>
  %idx = nki.alloc : memref<32x8xui32, #nki.sbuf>
  %found = nki.alloc : memref<128x65xi32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%scores, value=0
  nisa.max8 dst=%best, src=%x
  nisa.nc_find_index8 dst=%where, data=%x, vals=%best
  nisa.nc_match_replace8 dst=%y, data=%x, vals=%best, imm=-7
  nisa.nc_match_replace8 dst=%y, data=%x, vals=%best, imm=-7, dst_idx=%where
  nisa.topk val_dst=%val, idx_dst=%idx, src=%scores, n=60
  nisa.nonzero_with_count dst=%found, src=%x
  nki.return
}
