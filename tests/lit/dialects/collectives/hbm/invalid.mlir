// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Tensors in HBM: those of a list are all private, or all shared.

// CHECK: error[collective-buffer]: ncc.all_reduce: some of 'srcs' live in private_hbm, others in shared_hbm
nki.kernel @all_reduce_sources(%p: memref<4x64xf32, #nki.private_hbm>, %q: memref<4x64xf32, #nki.shared_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %e = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%p, %q], dsts=[%d, %e], replica_group=[[0, 1]], op=add
  nki.return
}

// CHECK: error[collective-buffer]: ncc.all_gather: some of 'dsts' live in private_hbm, others in shared_hbm
nki.kernel @all_gather_destinations(%p: memref<4x64xf32, #nki.shared_hbm>, %q: memref<4x64xf32, #nki.shared_hbm>) target=trn3 {
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  %e = nki.alloc : memref<8x64xf32, #nki.shared_hbm>
  ncc.all_gather srcs=[%p, %q], dsts=[%d, %e], replica_group=[[0, 1]], collective_dim=0
  nki.return
}

// CHECK: 2 errors
