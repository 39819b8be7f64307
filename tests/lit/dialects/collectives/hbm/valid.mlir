// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s
// CHECK: no findings

// Tensors in HBM: the legal neighbours of invalid.mlir.

nki.kernel @all_reduce_sources(%p: memref<4x64xf32, #nki.private_hbm>, %q: memref<4x64xf32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %e = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%p, %q], dsts=[%d, %e], replica_group=[[0, 1]], op=add
  nki.return
}

nki.kernel @all_gather_destinations(%p: memref<4x64xf32, #nki.shared_hbm>, %q: memref<4x64xf32, #nki.shared_hbm>) target=trn3 {
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  %e = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%p, %q], dsts=[%d, %e], replica_group=[[0, 1]], collective_dim=0
  nki.return
}
