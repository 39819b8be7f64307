// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of kernels on two cores and of the instructions between the cores.

// CHECK-LABEL: nki.kernel @pair_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
nki.kernel @pair_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.core_barrier data=%x, cores=[0, 1]
  nisa.core_barrier data=%x, cores=[0, 1]
  // All arguments.
  // CHECK-NEXT: nisa.core_barrier data=%x, cores=[0, 1], engine=sync, name="meet", after=["swap"]
  nisa.core_barrier data=%x, cores=[0, 1], engine=sync, name="meet", after=["swap"]
  // CHECK-NEXT: nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  // CHECK-NEXT: nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=7, dma_engine=gpsimd_dma, name="swap"
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=7, dma_engine=gpsimd_dma, name="swap"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @pair_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
nki.kernel @pair_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  // CHECK-NEXT: nki.return
  nki.return
}
