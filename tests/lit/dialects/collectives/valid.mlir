// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Collectives: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- ncc.all_reduce

nki.kernel @all_reduce_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_reduce srcs=[%s2], dsts=[%d2], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

nki.kernel @all_reduce_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

nki.kernel @all_reduce_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

nki.kernel @all_reduce_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

nki.kernel @all_reduce_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

nki.kernel @all_reduce_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add, priority=0
  nki.return
}

nki.kernel @all_reduce_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add, priority=3
  nki.return
}

nki.kernel @all_reduce_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[1, 0]], op=add
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [3, 2]], op=add
  nki.return
}

nki.kernel @all_reduce_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=maximum
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=minimum
  nki.return
}

nki.kernel @all_reduce_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// -------------------- ncc.all_gather

nki.kernel @all_gather_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<8x64xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s2], dsts=[%d2], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<8x64xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xbf16, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=0
  nki.return
}

nki.kernel @all_gather_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=3
  nki.return
}

nki.kernel @all_gather_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[1, 0]], collective_dim=0
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [3, 2]], collective_dim=0
  nki.return
}

nki.kernel @all_gather_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<4x128xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s2], dsts=[%d2], replica_group=[[0, 1], [2, 3]], collective_dim=1
  nki.return
}

nki.kernel @all_gather_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// -------------------- ncc.reduce_scatter

nki.kernel @reduce_scatter_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<2x64xf32, #nki.sbuf>
  ncc.reduce_scatter srcs=[%s2], dsts=[%d2], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<2x64xf32, #nki.sbuf>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xbf16, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add, priority=0
  nki.return
}

nki.kernel @reduce_scatter_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add, priority=3
  nki.return
}

nki.kernel @reduce_scatter_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[1, 0]], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [3, 2]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

nki.kernel @reduce_scatter_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=maximum
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=minimum
  nki.return
}

nki.kernel @reduce_scatter_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// -------------------- ncc.all_to_all

nki.kernel @all_to_all_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_to_all_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_to_all_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_to_all_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=0
  nki.return
}

nki.kernel @all_to_all_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=3
  nki.return
}

nki.kernel @all_to_all_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[1, 0]], collective_dim=0
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [3, 2]], collective_dim=0
  nki.return
}

nki.kernel @all_to_all_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

nki.kernel @all_to_all_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// -------------------- ncc.all_gather_v

nki.kernel @all_gather_v_buffer_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_buffer_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_coalesced_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_coalesced_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_lists_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_lists_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_dtype_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_dtype_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_priority_generation_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}
nki.kernel @all_gather_v_priority_generation_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

nki.kernel @all_gather_v_priority_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}
nki.kernel @all_gather_v_priority_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}

nki.kernel @all_gather_v_group_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[3, 0, 1, 2]], metadata_tensor=%m
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3], [4, 5, 6, 7]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_group_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[3, 0, 1, 2]], metadata_tensor=%m
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3], [4, 5, 6, 7]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_slots_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_slots_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_metadata_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<1x3x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %w = nki.alloc : memref<6x4xui32, #nki.shared_hbm>
  %v = nki.view %w offset=4 pattern=[[4, 3], [1, 4]]
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}
nki.kernel @all_gather_v_metadata_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<1x3x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %w = nki.alloc : memref<6x4xui32, #nki.shared_hbm>
  %v = nki.view %w offset=4 pattern=[[4, 3], [1, 4]]
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}

nki.kernel @all_gather_v_rdispls_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=false
  nki.return
}
nki.kernel @all_gather_v_rdispls_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=false
  nki.return
}

nki.kernel @all_gather_v_launch_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_launch_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_ranks_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_ranks_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// -------------------- ncc.all_to_all_v

nki.kernel @all_to_all_v_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

nki.kernel @all_to_all_v_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}

nki.kernel @all_to_all_v_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[3, 0, 1, 2]], metadata_tensor=%m
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3], [4, 5, 6, 7]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_slots() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_metadata() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<1x3x4xui32, #nki.sbuf>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<1x4x4xui32, #nki.sbuf>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %w = nki.alloc : memref<6x4xui32, #nki.shared_hbm>
  %v = nki.view %w offset=4 pattern=[[4, 3], [1, 4]]
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}

nki.kernel @all_to_all_v_rdispls() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=true
  nki.return
}

// -------------------- ncc.collective_permute

nki.kernel @collective_permute_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

nki.kernel @collective_permute_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

nki.kernel @collective_permute_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

nki.kernel @collective_permute_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

nki.kernel @collective_permute_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]], priority=0
  nki.return
}

nki.kernel @collective_permute_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]], priority=3
  nki.return
}

nki.kernel @collective_permute_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 0]]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1]]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 2]]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [2, 0]]
  nki.return
}

nki.kernel @collective_permute_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// -------------------- ncc.collective_permute_implicit

nki.kernel @collective_permute_implicit_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit srcs_by_channel=[%s2], dsts_by_channel=[%d2], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0], priority=0
  nki.return
}

nki.kernel @collective_permute_implicit_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0], priority=3
  nki.return
}

nki.kernel @collective_permute_implicit_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[1, 0]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [3, 2]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_channels() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s, %s], dsts_by_channel=[%d, %d], replica_group=[[0, 1], [2, 3]], channel_ids=[0, 1]
  ncc.collective_permute_implicit srcs_by_channel=[%s, %s, %s, %s], dsts_by_channel=[%d, %d, %d, %d], replica_group=[[0, 1], [2, 3]], channel_ids=[0, 1, 2, 3]
  nki.return
}

// -------------------- ncc.collective_permute_implicit_reduce

nki.kernel @collective_permute_implicit_reduce_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s2], srcs1_by_channel=[%s2], dsts_by_channel=[%d2], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0], priority=0
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0], priority=3
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[1, 0]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [3, 2]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=maximum, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=minimum, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

nki.kernel @collective_permute_implicit_reduce_channels() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s, %s], srcs1_by_channel=[%s, %s], dsts_by_channel=[%d, %d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0, 1]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s, %s, %s, %s], srcs1_by_channel=[%s, %s, %s, %s], dsts_by_channel=[%d, %d, %d, %d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0, 1, 2, 3]
  nki.return
}

// -------------------- ncc.collective_permute_implicit_current_processing_rank_id

nki.kernel @rank_id_group() target=trn3 {
  %c = arith.constant 0 : i32
  %r = nki.register
  ncc.collective_permute_implicit_current_processing_rank_id dst=%r, iteration_id=%c, replica_group=[[0, 1]], channel_id=0
  nki.return
}

nki.kernel @rank_id_channel() target=trn3 {
  %c = arith.constant 0 : i32
  %r = nki.register
  ncc.collective_permute_implicit_current_processing_rank_id dst=%r, iteration_id=%c, replica_group=[[0, 1]], channel_id=3
  nki.return
}
