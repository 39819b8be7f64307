// RUN: nkijit verify -p verify-instructions %s | filecheck --match-full-lines %s

// Two cores: the nearest legal neighbours of the kernels in invalid.mlir, by the same names.

// CHECK: no findings

// -------------------- nisa.core_barrier

nki.kernel @core_barrier_generation_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn2 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}
nki.kernel @core_barrier_generation_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn2 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}

nki.kernel @core_barrier_launch_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}
nki.kernel @core_barrier_launch_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}

nki.kernel @core_barrier_buffer_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.shared_hbm>
  nisa.core_barrier data=%t, cores=[0, 1]
  nki.return
}
nki.kernel @core_barrier_buffer_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.shared_hbm>
  nisa.core_barrier data=%t, cores=[0, 1]
  nki.return
}

nki.kernel @core_barrier_cores_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}
nki.kernel @core_barrier_cores_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}

nki.kernel @core_barrier_engine_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0, 1], engine=sync
  nki.return
}
nki.kernel @core_barrier_engine_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0, 1], engine=sync
  nki.return
}

// -------------------- nisa.sendrecv

nki.kernel @sendrecv_generation_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn2 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_generation_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn2 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_launch_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_launch_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_buffer_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_buffer_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_dtype_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_dtype_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_shape_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_shape_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_rank_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_rank_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

nki.kernel @sendrecv_gpsimd_size_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a0 = nki.alloc : memref<2x256xf32, #nki.sbuf>
  %b0 = nki.alloc : memref<2x256xf32, #nki.sbuf>
  nisa.sendrecv src=%a0, dst=%b0, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a1 = nki.alloc : memref<2x256xbf16, #nki.sbuf>
  %b1 = nki.alloc : memref<2x256xbf16, #nki.sbuf>
  nisa.sendrecv src=%a1, dst=%b1, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a2 = nki.alloc : memref<2x256xui8, #nki.sbuf>
  %b2 = nki.alloc : memref<2x256xui8, #nki.sbuf>
  nisa.sendrecv src=%a2, dst=%b2, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  nki.return
}
nki.kernel @sendrecv_gpsimd_size_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a0 = nki.alloc : memref<2x256xf32, #nki.sbuf>
  %b0 = nki.alloc : memref<2x256xf32, #nki.sbuf>
  nisa.sendrecv src=%a0, dst=%b0, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a1 = nki.alloc : memref<2x256xbf16, #nki.sbuf>
  %b1 = nki.alloc : memref<2x256xbf16, #nki.sbuf>
  nisa.sendrecv src=%a1, dst=%b1, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a2 = nki.alloc : memref<2x256xui8, #nki.sbuf>
  %b2 = nki.alloc : memref<2x256xui8, #nki.sbuf>
  nisa.sendrecv src=%a2, dst=%b2, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  nki.return
}

// -------------------- nki.return

nki.kernel @return_private_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.shared_hbm>
  nki.return %t
}
nki.kernel @return_private_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.shared_hbm>
  nki.return %t
}
