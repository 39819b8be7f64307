// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of collectives.

// CHECK-LABEL: nki.kernel @lists() target=trn3 {
nki.kernel @lists() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.private_hbm>
  %b = nki.alloc : memref<4x8xf32, #nki.private_hbm>
  %wide = nki.alloc : memref<8x8xf32, #nki.private_hbm>
  %half = nki.alloc : memref<2x8xf32, #nki.private_hbm>
  // The fewest arguments.
  // CHECK: ncc.all_reduce srcs=[%a], dsts=[%b], replica_group=[[0, 1]], op=add
  ncc.all_reduce srcs=[%a], dsts=[%b], replica_group=[[0, 1]], op=add
  // All arguments, several tensors, several groups.
  // CHECK-NEXT: ncc.all_reduce srcs=[%a, %b], dsts=[%b, %a], replica_group=[[0, 1], [3, 2]], op=maximum, priority=0, name="sum", after=["permuted"]
  ncc.all_reduce srcs=[%a, %b], dsts=[%b, %a], replica_group=[[0, 1], [3, 2]], op=maximum, priority=0, name="sum", after=["permuted"]
  // CHECK-NEXT: ncc.all_gather srcs=[%a], dsts=[%wide], replica_group=[[0, 1]], collective_dim=0
  ncc.all_gather srcs=[%a], dsts=[%wide], replica_group=[[0, 1]], collective_dim=0
  // CHECK-NEXT: ncc.all_gather srcs=[%a, %b], dsts=[%wide, %wide], replica_group=[[0, 1]], collective_dim=0, priority=3, name="gathered"
  ncc.all_gather srcs=[%a, %b], dsts=[%wide, %wide], replica_group=[[0, 1]], collective_dim=0, priority=3, name="gathered"
  // CHECK-NEXT: ncc.reduce_scatter srcs=[%a], dsts=[%half], replica_group=[[0, 1]], collective_dim=0, op=minimum
  ncc.reduce_scatter srcs=[%a], dsts=[%half], replica_group=[[0, 1]], collective_dim=0, op=minimum
  // CHECK-NEXT: ncc.reduce_scatter srcs=[%a, %b], dsts=[%half, %half], replica_group=[[0, 1]], collective_dim=0, op=add, priority=1, name="scattered"
  ncc.reduce_scatter srcs=[%a, %b], dsts=[%half, %half], replica_group=[[0, 1]], collective_dim=0, op=add, priority=1, name="scattered"
  // CHECK-NEXT: ncc.all_to_all srcs=[%a], dsts=[%b], replica_group=[[0, 1]], collective_dim=0
  ncc.all_to_all srcs=[%a], dsts=[%b], replica_group=[[0, 1]], collective_dim=0
  // CHECK-NEXT: ncc.all_to_all srcs=[%a, %b], dsts=[%b, %a], replica_group=[[0, 1]], collective_dim=0, priority=2, name="exchanged"
  ncc.all_to_all srcs=[%a, %b], dsts=[%b, %a], replica_group=[[0, 1]], collective_dim=0, priority=2, name="exchanged"
  // CHECK-NEXT: ncc.collective_permute srcs=[%a], dsts=[%b], source_target_pairs=[[0, 1], [1, 0]]
  ncc.collective_permute srcs=[%a], dsts=[%b], source_target_pairs=[[0, 1], [1, 0]]
  // CHECK-NEXT: ncc.collective_permute srcs=[%a], dsts=[%b], source_target_pairs=[[2, 1]], priority=2, name="permuted"
  ncc.collective_permute srcs=[%a], dsts=[%b], source_target_pairs=[[2, 1]], priority=2, name="permuted"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @variable_core0() target=trn3 program=[0, 2] {
nki.kernel @variable_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<4x8xf32, #nki.private_hbm>
  %b = nki.alloc : memref<4x8xf32, #nki.private_hbm>
  %m = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // All arguments. The rules refuse has_rdispls, the text has it.
  // CHECK-NEXT: ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, has_rdispls=true, priority=0, name="all"
  ncc.all_gather_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, has_rdispls=true, priority=0, name="all"
  // CHECK-NEXT: ncc.all_to_all_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK-NEXT: ncc.all_to_all_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, has_rdispls=true, priority=0, name="each"
  ncc.all_to_all_v srcs=[%a], dsts=[%b], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, has_rdispls=true, priority=0, name="each"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @variable_core1() target=trn3 program=[1, 2] {
nki.kernel @variable_core1() target=trn3 program=[1, 2] {
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @ring() target=trn3 {
nki.kernel @ring() target=trn3 {
  %two = arith.constant 2 : i32
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  // CHECK: %rank = nki.register
  %rank = nki.register
  %step = nki.register
  // The fewest arguments.
  // CHECK: ncc.collective_permute_implicit srcs_by_channel=[%a], dsts_by_channel=[%b], replica_group=[[0, 1]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%a], dsts_by_channel=[%b], replica_group=[[0, 1]], channel_ids=[0]
  // All arguments.
  // CHECK-NEXT: ncc.collective_permute_implicit srcs_by_channel=[%a, %b], dsts_by_channel=[%b, %a], replica_group=[[0, 1]], channel_ids=[0, 1], priority=1, name="step"
  ncc.collective_permute_implicit srcs_by_channel=[%a, %b], dsts_by_channel=[%b, %a], replica_group=[[0, 1]], channel_ids=[0, 1], priority=1, name="step"
  // CHECK-NEXT: ncc.collective_permute_implicit_reduce srcs0_by_channel=[%a], srcs1_by_channel=[%b], dsts_by_channel=[%b], replica_group=[[0, 1]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%a], srcs1_by_channel=[%b], dsts_by_channel=[%b], replica_group=[[0, 1]], op=add, channel_ids=[0]
  // CHECK-NEXT: ncc.collective_permute_implicit_reduce srcs0_by_channel=[%a, %b], srcs1_by_channel=[%b, %b], dsts_by_channel=[%b, %a], replica_group=[[0, 1]], op=minimum, channel_ids=[0, 1], priority=1, name="reduced"
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%a, %b], srcs1_by_channel=[%b, %b], dsts_by_channel=[%b, %a], replica_group=[[0, 1]], op=minimum, channel_ids=[0, 1], priority=1, name="reduced"
  // A number of steps, then a register.
  // CHECK-NEXT: ncc.collective_permute_implicit_current_processing_rank_id dst=%rank, iteration_id=%two, replica_group=[[0, 1]], channel_id=0
  ncc.collective_permute_implicit_current_processing_rank_id dst=%rank, iteration_id=%two, replica_group=[[0, 1]], channel_id=0
  // CHECK-NEXT: ncc.collective_permute_implicit_current_processing_rank_id dst=%rank, iteration_id=%step, replica_group=[[0, 1]], channel_id=1, name="whose"
  ncc.collective_permute_implicit_current_processing_rank_id dst=%rank, iteration_id=%step, replica_group=[[0, 1]], channel_id=1, name="whose"
  // CHECK-NEXT: ncc.rank_id dst=%rank
  ncc.rank_id dst=%rank
  // CHECK-NEXT: ncc.rank_id dst=%rank, name="mine"
  ncc.rank_id dst=%rank, name="mine"
  // CHECK-NEXT: nki.return
  nki.return
}
