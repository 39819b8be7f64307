// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Two cores: what the rules forbid. A kernel here breaks one rule; where it cannot break one
// alone, its comment says so. The kernel of the same name in valid.mlir differs in that one thing
// and is silent.

// -------------------- nisa.core_barrier

// NeuronCore-v2 runs a kernel on one core, so the launch is wrong with it.
// CHECK: error[generation]: nisa.core_barrier: the instruction needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK: error[two-cores]: nisa.core_barrier: the kernel is launched on one core
nki.kernel @core_barrier_generation(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn1 {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}

// The kernel is launched on one core.
// CHECK: error[two-cores]: nisa.core_barrier: the kernel is launched on one core
nki.kernel @core_barrier_launch(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 {
  nisa.core_barrier data=%x, cores=[0, 1]
  nki.return
}

// The tensor is private to a core.
// CHECK: error[buffer]: nisa.core_barrier: 'data' must be in shared_hbm, it is in private_hbm
nki.kernel @core_barrier_buffer_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  nisa.core_barrier data=%t, cores=[0, 1]
  nki.return
}
nki.kernel @core_barrier_buffer_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  nisa.core_barrier data=%t, cores=[0, 1]
  nki.return
}

// Not all cores, or more than there are.
// CHECK: error[barrier-cores]: nisa.core_barrier: 'cores' must be (0, 1), it is (0,)
// CHECK: error[barrier-cores]: nisa.core_barrier: 'cores' must be (0, 1), it is (0, 1, 2)
// CHECK: error[barrier-cores]: nisa.core_barrier: 'cores' must be (0, 1), it is (1, 0)
nki.kernel @core_barrier_cores_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0]
  nisa.core_barrier data=%x, cores=[0, 1, 2]
  nisa.core_barrier data=%x, cores=[1, 0]
  nki.return
}
nki.kernel @core_barrier_cores_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0]
  nisa.core_barrier data=%x, cores=[0, 1, 2]
  nisa.core_barrier data=%x, cores=[1, 0]
  nki.return
}

// DMA queues run no barrier.
// CHECK: error[engine]: nisa.core_barrier: the instruction runs on gpsimd, vector, scalar, tensor or sync, not on dma
nki.kernel @core_barrier_engine_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nisa.core_barrier data=%x, cores=[0, 1], engine=dma
  nki.return
}
nki.kernel @core_barrier_engine_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nisa.core_barrier data=%x, cores=[0, 1], engine=dma
  nki.return
}

// -------------------- nisa.sendrecv

// NeuronCore-v2 runs a kernel on one core, so the launch is wrong with it.
// CHECK: error[generation]: nisa.sendrecv: the instruction needs NeuronCore-v3, the target trn1 is NeuronCore-v2
// CHECK: error[two-cores]: nisa.sendrecv: the kernel is launched on one core
nki.kernel @sendrecv_generation(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn1 {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// The kernel is launched on one core.
// CHECK: error[two-cores]: nisa.sendrecv: the kernel is launched on one core
nki.kernel @sendrecv_launch(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// A tile is in PSUM.
// CHECK: error[buffer]: nisa.sendrecv: 'src' must be in sbuf, it is in psum
nki.kernel @sendrecv_buffer_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.psum>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_buffer_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.psum>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// The tiles differ in data type.
// CHECK: error[same-dtype]: nisa.sendrecv: different data types: 'src' is float32, 'dst' is bfloat16
nki.kernel @sendrecv_dtype_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_dtype_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xbf16, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// The tiles differ in shape, though not in size.
// CHECK: error[same-shape]: nisa.sendrecv: 'src' and 'dst' must have the same shape, they have (2, 64) and (2, 4, 16)
nki.kernel @sendrecv_shape_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_shape_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x4x16xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// There is no core 2, nor one before core 0.
// CHECK: error[sendrecv-rank]: nisa.sendrecv: 'send_to_rank' must be 0 or 1, it is 2
// CHECK: error[sendrecv-rank]: nisa.sendrecv: 'recv_from_rank' must be 0 or 1, it is -1
nki.kernel @sendrecv_rank_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=2, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=-1, pipe_id=0
  nki.return
}
nki.kernel @sendrecv_rank_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<2x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=2, recv_from_rank=1, pipe_id=0
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=-1, pipe_id=0
  nki.return
}

// An element per partition more than the GpSimd Engine's DMA moves.
// CHECK: error[gpsimd-dma-size]: nisa.sendrecv: dma_engine.gpsimd_dma moves at most 1024 bytes per partition of float32, 'src' has 1028
// CHECK: error[gpsimd-dma-size]: nisa.sendrecv: dma_engine.gpsimd_dma moves at most 512 bytes per partition of bfloat16, 'src' has 514
// CHECK: error[gpsimd-dma-size]: nisa.sendrecv: dma_engine.gpsimd_dma moves at most 256 bytes per partition of uint8, 'src' has 257
nki.kernel @sendrecv_gpsimd_size_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a0 = nki.alloc : memref<2x257xf32, #nki.sbuf>
  %b0 = nki.alloc : memref<2x257xf32, #nki.sbuf>
  nisa.sendrecv src=%a0, dst=%b0, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a1 = nki.alloc : memref<2x257xbf16, #nki.sbuf>
  %b1 = nki.alloc : memref<2x257xbf16, #nki.sbuf>
  nisa.sendrecv src=%a1, dst=%b1, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a2 = nki.alloc : memref<2x257xui8, #nki.sbuf>
  %b2 = nki.alloc : memref<2x257xui8, #nki.sbuf>
  nisa.sendrecv src=%a2, dst=%b2, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  nki.return
}
nki.kernel @sendrecv_gpsimd_size_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a0 = nki.alloc : memref<2x257xf32, #nki.sbuf>
  %b0 = nki.alloc : memref<2x257xf32, #nki.sbuf>
  nisa.sendrecv src=%a0, dst=%b0, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a1 = nki.alloc : memref<2x257xbf16, #nki.sbuf>
  %b1 = nki.alloc : memref<2x257xbf16, #nki.sbuf>
  nisa.sendrecv src=%a1, dst=%b1, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  %a2 = nki.alloc : memref<2x257xui8, #nki.sbuf>
  %b2 = nki.alloc : memref<2x257xui8, #nki.sbuf>
  nisa.sendrecv src=%a2, dst=%b2, send_to_rank=1, recv_from_rank=1, pipe_id=0, dma_engine=gpsimd_dma
  nki.return
}

// -------------------- nki.return

// The result is private to a core.
// CHECK: error[return-shared]: nki.return: result 0 lives in private_hbm
nki.kernel @return_private_core0(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  nki.return %t
}
nki.kernel @return_private_core1(%x: memref<2x64xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %t = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  nki.return %t
}
