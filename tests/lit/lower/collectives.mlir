// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Collectives are DMAs between ranks, through one ring, so they keep their order.
// CHECK: kernel tensors, trn3 (NeuronCore-v4)
// CHECK-NEXT: 10 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 0 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 5 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_copy @1 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_copy @3 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(dma_copy>=2) DMA_TRIGGER transfer=dma_copy @5 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 wait(dma_copy>=3) DMA_TRIGGER transfer=dma_copy @7 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 wait(dma_copy>=4) DMA_TRIGGER transfer=dma_copy @9 collectives.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 5 instructions
// CHECK-NEXT: 1 ALL_REDUCE dsts=b[private_hbm 0, 8:4 1:8, float32], srcs=a[private_hbm 0, 8:4 1:8, float32], replica_group={{\[\[}}0, 1]], op=add signal(1) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 ALL_GATHER dsts=wide[private_hbm 0, 8:8 1:8, float32], srcs=b[private_hbm 0, 8:4 1:8, float32], replica_group={{\[\[}}0, 1]], collective_dim=0 signal(2) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 REDUCE_SCATTER dsts=half[private_hbm 0, 8:2 1:8, float32], srcs=b[private_hbm 0, 8:4 1:8, float32], replica_group={{\[\[}}0, 1]], collective_dim=0, op=add signal(3) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 ALL_TO_ALL dsts=c[private_hbm 0, 8:4 1:8, float32], srcs=b[private_hbm 0, 8:4 1:8, float32], replica_group={{\[\[}}0, 1]], collective_dim=0 signal(4) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 COLLECTIVE_PERMUTE dsts=d[private_hbm 0, 8:4 1:8, float32], srcs=c[private_hbm 0, 8:4 1:8, float32], source_target_pairs={{\[\[}}0, 1], [1, 0]] collectives.mlir:{{[0-9]+}}
nki.kernel @tensors(%a: memref<4x8xf32, #nki.private_hbm>, %b: memref<4x8xf32, #nki.private_hbm>, %c: memref<4x8xf32, #nki.private_hbm>, %d: memref<4x8xf32, #nki.private_hbm>, %e: memref<4x8xf32, #nki.private_hbm>, %f: memref<4x8xf32, #nki.private_hbm>, %g: memref<4x8xf32, #nki.private_hbm>) target=trn3 {
  %wide = nki.alloc : memref<8x8xf32, #nki.private_hbm>
  %half = nki.alloc : memref<2x8xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%a], dsts=[%b], replica_group=[[0, 1]], op=add
  ncc.all_gather srcs=[%b], dsts=[%wide], replica_group=[[0, 1]], collective_dim=0
  ncc.reduce_scatter srcs=[%b], dsts=[%half], replica_group=[[0, 1]], collective_dim=0, op=add
  ncc.all_to_all srcs=[%b], dsts=[%c], replica_group=[[0, 1]], collective_dim=0
  ncc.collective_permute srcs=[%c], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// Counts that stand in a tile, and steps of a ring with the rank that a step is about.
// CHECK: kernel counted_core0, trn3 (NeuronCore-v4)
// CHECK-NEXT: 14 instructions, 5 waits, 5 signals
// CHECK-NEXT: SBUF 160 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=m[sbuf 0, 0:1, 4:4 1:4, uint32], value=0 signal(1) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=p[sbuf 64, 0:4, 1:8, float32], value=0 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=q[sbuf 96, 0:4, 1:8, float32], value=0 signal(2) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 MEMSET dst=r[sbuf 128, 0:4, 1:8, float32], value=0 signal(3) collectives.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 6 instructions
// CHECK-NEXT: 4 RANK_ID dst=rank collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(vector>=1) DMA_TRIGGER transfer=dma_copy @6 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_copy @8 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 wait(vector>=2) DMA_TRIGGER transfer=dma_copy @10 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 11 wait(dma_copy>=2, vector>=3) DMA_TRIGGER transfer=dma_copy @12 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 13 RING_RANK_ID dst=whose, iteration_id=0, replica_group={{\[\[}}0, 1, 2, 3]], channel_id=0 collectives.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 4 instructions
// CHECK-NEXT: 6 ALL_GATHER_V dsts=b[private_hbm 0, 8:4 1:8, float32], srcs=a[private_hbm 0, 8:4 1:8, float32], metadata_tensor=m[sbuf 0, 0:1, 4:4 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] signal(1) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 ALL_TO_ALL_V dsts=d[private_hbm 0, 8:4 1:8, float32], srcs=c[private_hbm 0, 8:4 1:8, float32], metadata_tensor=m[sbuf 0, 0:1, 4:4 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 COLLECTIVE_PERMUTE_IMPLICIT dsts_by_channel=q[sbuf 96, 0:4, 1:8, float32], srcs_by_channel=p[sbuf 64, 0:4, 1:8, float32], replica_group={{\[\[}}0, 1, 2, 3]], channel_ids=[0] signal(2) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 12 COLLECTIVE_PERMUTE_REDUCE dsts_by_channel=r[sbuf 128, 0:4, 1:8, float32], srcs0_by_channel=p[sbuf 64, 0:4, 1:8, float32], srcs1_by_channel=q[sbuf 96, 0:4, 1:8, float32], replica_group={{\[\[}}0, 1, 2, 3]], op=add, channel_ids=[0] collectives.mlir:{{[0-9]+}}
nki.kernel @counted_core0(%a: memref<4x8xf32, #nki.private_hbm>, %b: memref<4x8xf32, #nki.private_hbm>, %c: memref<4x8xf32, #nki.private_hbm>, %d: memref<4x8xf32, #nki.private_hbm>, %e: memref<4x8xf32, #nki.private_hbm>, %f: memref<4x8xf32, #nki.private_hbm>, %g: memref<4x8xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %zero = arith.constant 0 : i32
  %m = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  %p = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %q = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %r = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%m, value=0
  nisa.memset dst=%p, value=0
  nisa.memset dst=%q, value=0
  nisa.memset dst=%r, value=0
  %rank = nki.register
  %whose = nki.register
  ncc.rank_id dst=%rank
  ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v srcs=[%c], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.collective_permute_implicit srcs_by_channel=[%p], dsts_by_channel=[%q], replica_group=[[0, 1, 2, 3]], channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%p], srcs1_by_channel=[%q], dsts_by_channel=[%r], replica_group=[[0, 1, 2, 3]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_current_processing_rank_id dst=%whose, iteration_id=%zero, replica_group=[[0, 1, 2, 3]], channel_id=0
  nki.return
}

// The other core.
// CHECK: kernel counted_core1, trn3 (NeuronCore-v4)
// CHECK-NEXT: 14 instructions, 5 waits, 5 signals
// CHECK-NEXT: SBUF 160 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0 MEMSET dst=m[sbuf 0, 0:1, 4:4 1:4, uint32], value=0 signal(1) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=p[sbuf 64, 0:4, 1:8, float32], value=0 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 MEMSET dst=q[sbuf 96, 0:4, 1:8, float32], value=0 signal(2) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 MEMSET dst=r[sbuf 128, 0:4, 1:8, float32], value=0 signal(3) collectives.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: sync: 6 instructions
// CHECK-NEXT: 4 RANK_ID dst=rank collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(vector>=1) DMA_TRIGGER transfer=dma_copy @6 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 wait(dma_copy>=1) DMA_TRIGGER transfer=dma_copy @8 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 9 wait(vector>=2) DMA_TRIGGER transfer=dma_copy @10 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 11 wait(dma_copy>=2, vector>=3) DMA_TRIGGER transfer=dma_copy @12 collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 13 RING_RANK_ID dst=whose, iteration_id=0, replica_group={{\[\[}}0, 1, 2, 3]], channel_id=0 collectives.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 4 instructions
// CHECK-NEXT: 6 ALL_GATHER_V dsts=b[private_hbm 0, 8:4 1:8, float32], srcs=a[private_hbm 0, 8:4 1:8, float32], metadata_tensor=m[sbuf 0, 0:1, 4:4 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] signal(1) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 ALL_TO_ALL_V dsts=d[private_hbm 0, 8:4 1:8, float32], srcs=c[private_hbm 0, 8:4 1:8, float32], metadata_tensor=m[sbuf 0, 0:1, 4:4 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 10 COLLECTIVE_PERMUTE_IMPLICIT dsts_by_channel=q[sbuf 96, 0:4, 1:8, float32], srcs_by_channel=p[sbuf 64, 0:4, 1:8, float32], replica_group={{\[\[}}0, 1, 2, 3]], channel_ids=[0] signal(2) collectives.mlir:{{[0-9]+}}
// CHECK-NEXT: 12 COLLECTIVE_PERMUTE_REDUCE dsts_by_channel=r[sbuf 128, 0:4, 1:8, float32], srcs0_by_channel=p[sbuf 64, 0:4, 1:8, float32], srcs1_by_channel=q[sbuf 96, 0:4, 1:8, float32], replica_group={{\[\[}}0, 1, 2, 3]], op=add, channel_ids=[0] collectives.mlir:{{[0-9]+}}
nki.kernel @counted_core1(%a: memref<4x8xf32, #nki.private_hbm>, %b: memref<4x8xf32, #nki.private_hbm>, %c: memref<4x8xf32, #nki.private_hbm>, %d: memref<4x8xf32, #nki.private_hbm>, %e: memref<4x8xf32, #nki.private_hbm>, %f: memref<4x8xf32, #nki.private_hbm>, %g: memref<4x8xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %zero = arith.constant 0 : i32
  %m = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  %p = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %q = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %r = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%m, value=0
  nisa.memset dst=%p, value=0
  nisa.memset dst=%q, value=0
  nisa.memset dst=%r, value=0
  %rank = nki.register
  %whose = nki.register
  ncc.rank_id dst=%rank
  ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v srcs=[%c], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.collective_permute_implicit srcs_by_channel=[%p], dsts_by_channel=[%q], replica_group=[[0, 1, 2, 3]], channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%p], srcs1_by_channel=[%q], dsts_by_channel=[%r], replica_group=[[0, 1, 2, 3]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_current_processing_rank_id dst=%whose, iteration_id=%zero, replica_group=[[0, 1, 2, 3]], channel_id=0
  nki.return
}
