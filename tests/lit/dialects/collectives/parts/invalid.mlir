// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Collectives in two parts: what the rules forbid of each part. The rules of what is moved belong to
// the trigger, those of the rest to the prepare. ops.mlir has the legal neighbours.

// -------------------- ncc.all_gather_v_prepare

// CHECK: error[argument-generation]: ncc.all_gather_v_prepare: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_gather_v_priority_generation_core0() target=trn2 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}
nki.kernel @all_gather_v_priority_generation_core1() target=trn2 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

// CHECK: error[dma-arguments]: ncc.all_gather_v_prepare: 'priority' must be 0 to 3, it is 4
nki.kernel @all_gather_v_priority_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}
nki.kernel @all_gather_v_priority_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}

// CHECK: error[collective-group]: ncc.all_gather_v_prepare: rank 2 is in the groups twice
nki.kernel @all_gather_v_group_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_group_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-metadata]: ncc.all_gather_v_prepare: 'metadata_tensor' is float32, not uint32
nki.kernel @all_gather_v_metadata_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%s
  nki.return
}
nki.kernel @all_gather_v_metadata_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%s
  nki.return
}

// CHECK: error[collective-rdispls]: ncc.all_gather_v_prepare: has_rdispls=True is not supported
nki.kernel @all_gather_v_rdispls_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %m4 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4, has_rdispls=true
  nki.return
}
nki.kernel @all_gather_v_rdispls_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %m4 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4, has_rdispls=true
  nki.return
}

// CHECK: error[collective-launch]: ncc.all_gather_v_prepare: the kernel is launched on one core
nki.kernel @all_gather_v_launch() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// -------------------- ncc.all_gather_v_trigger

// CHECK: error[collective-buffer]: ncc.all_gather_v_trigger: 'srcs' lives in sbuf
nki.kernel @all_gather_v_buffer_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_gather_v_trigger srcs=[%b], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_buffer_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_gather_v_trigger srcs=[%b], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-coalesced]: ncc.all_gather_v_trigger: takes one tensor, there are 2
nki.kernel @all_gather_v_coalesced_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_coalesced_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-lists]: ncc.all_gather_v_trigger: the lists of tensors differ in length: 'srcs' has 1, 'dsts' has 2
nki.kernel @all_gather_v_lists_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_lists_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-dtype]: ncc.all_gather_v_trigger: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_gather_v_dtype_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %h = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%h], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_dtype_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %h = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%h], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-shape]: ncc.all_gather_v_trigger: the 255 elements of 'dsts' do not divide into 4 equal slots
nki.kernel @all_gather_v_shape_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<255xf32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_shape_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<255xf32, #nki.private_hbm>
  ncc.all_gather_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// -------------------- ncc.all_to_all_v_prepare

// CHECK: error[argument-generation]: ncc.all_to_all_v_prepare: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_to_all_v_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

// CHECK: error[dma-arguments]: ncc.all_to_all_v_prepare: 'priority' must be 0 to 3, it is 4
nki.kernel @all_to_all_v_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}

// CHECK: error[collective-group]: ncc.all_to_all_v_prepare: rank 2 is in the groups twice
nki.kernel @all_to_all_v_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-metadata]: ncc.all_to_all_v_prepare: 'metadata_tensor' is float32, not uint32
nki.kernel @all_to_all_v_metadata() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%s
  nki.return
}

// CHECK: error[collective-rdispls]: ncc.all_to_all_v_prepare: has_rdispls=True needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_to_all_v_rdispls() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %m4 = nki.alloc : memref<4x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4, has_rdispls=true
  nki.return
}

// -------------------- ncc.all_to_all_v_trigger

// CHECK: error[collective-buffer]: ncc.all_to_all_v_trigger: 'srcs' lives in sbuf
nki.kernel @all_to_all_v_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_to_all_v_trigger srcs=[%b], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-coalesced]: ncc.all_to_all_v_trigger: takes one tensor, there are 2
nki.kernel @all_to_all_v_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-lists]: ncc.all_to_all_v_trigger: the lists of tensors differ in length: 'srcs' has 1, 'dsts' has 2
nki.kernel @all_to_all_v_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-dtype]: ncc.all_to_all_v_trigger: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_to_all_v_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %h = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%h], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: error[collective-shape]: ncc.all_to_all_v_trigger: the 255 elements of 'dsts' do not divide into 4 equal slots
nki.kernel @all_to_all_v_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.private_hbm>
  %o = nki.alloc : memref<255xf32, #nki.private_hbm>
  ncc.all_to_all_v_trigger srcs=[%s], dsts=[%o], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
