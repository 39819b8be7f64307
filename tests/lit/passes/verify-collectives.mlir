// RUN: not nkijit verify -p verify-collectives %s > %t
// RUN: filecheck --match-full-lines %s < %t

// A prepare and its trigger are a pair; there is one slot for all of them.

// Pairs, one after the other, with other work in between, and as a whole in a loop.
nki.kernel @pairs(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nisa.memset dst=%s, value=0.000000e+00
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  scf.for %i = %zero to %four step %one : i32 {
    ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
    ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  }
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_prepare: is not triggered
nki.kernel @alone(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_trigger: nothing is prepared
nki.kernel @unprepared(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_trigger: nothing is prepared
nki.kernel @twice(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_prepare: comes before the trigger of another prepare
nki.kernel @nested(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-split]: ncc.all_gather_v_trigger: 'ncc.all_to_all_v_prepare' was prepared
nki.kernel @another_kind(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_trigger: 'recv_counts_known' is not what was prepared
nki.kernel @other_arguments(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, recv_counts_known=true
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_trigger: 'metadata_tensor' is not what was prepared
nki.kernel @other_metadata(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %n = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%n
  nki.return
}

// CHECK: error[collective-split]: ncc.all_to_all_v_trigger: its prepare is in another loop on the device
nki.kernel @other_loop(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  scf.for %i = %zero to %four step %one : i32 {
    ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  }
  nki.return
}

// CHECK: error[collective-split]: nisa.dma_copy: writes the metadata that 'ncc.all_to_all_v_prepare' has read
nki.kernel @metadata_changed(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %n = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nisa.dma_copy dst=%m, src=%n
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: 9 errors
