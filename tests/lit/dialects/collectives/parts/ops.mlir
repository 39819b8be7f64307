// RUN: %roundtrip
// RUN: nkijit verify %s | filecheck --match-full-lines --check-prefix=NONE %s

// Collectives in two parts, with all arguments and with the fewest.
// NONE: no findings

// CHECK-LABEL: nki.kernel @all_gather_v_core0(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[0, 2] {
nki.kernel @all_gather_v_core0(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  // CHECK: ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  // CHECK: ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  nki.return
}
// CHECK-LABEL: nki.kernel @all_gather_v_core1(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[1, 2] {
nki.kernel @all_gather_v_core1(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  // CHECK: ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  // CHECK: ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  nki.return
}

// CHECK-LABEL: nki.kernel @all_to_all_v(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
nki.kernel @all_to_all_v(%s: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  // CHECK: ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  // CHECK: ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="set-up"
  // CHECK: ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true, priority=0, name="go"
  nki.return
}
