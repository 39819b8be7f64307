// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s
// CHECK: no findings

// Collectives in two parts: the legal neighbours of invalid.mlir.

nki.kernel @all_gather_v_priority_generation_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}
nki.kernel @all_gather_v_priority_generation_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

nki.kernel @all_gather_v_priority_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}
nki.kernel @all_gather_v_priority_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}

nki.kernel @all_gather_v_group_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_group_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_metadata_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_metadata_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_rdispls_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_rdispls_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_launch_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_launch_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_buffer_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_buffer_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_coalesced_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_coalesced_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_lists_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_lists_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_dtype_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_dtype_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_gather_v_shape_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<256xf32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_shape_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<256xf32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_priority_generation() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

nki.kernel @all_to_all_v_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=3
  nki.return
}

nki.kernel @all_to_all_v_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_metadata() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_rdispls() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %m4 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4, has_rdispls=true
  nki.return
}

nki.kernel @all_to_all_v_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

nki.kernel @all_to_all_v_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<256xf32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
