// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit-opt -t nki-listing %s | filecheck --match-full-lines %s

// The listing: a block for each engine, a line for each of its instructions, numbered in program
// order over all engines.

// Reading accumulators out is an engine instruction of its own, in the queue of the same engine.
// CHECK: kernel softmax, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: dma: 2 instructions
// CHECK-NEXT: 0  DMA_COPY              dst=tile@sbuf[128x64 float32], src=x@private_hbm[128x64 float32]
// CHECK-NEXT: 5  DMA_COPY              dst=out@shared_hbm[128x64 bfloat16], src=exps@sbuf[128x64 bfloat16]
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 3  RECIPROCAL            dst=sum@sbuf[128x1 float32], data=sum@sbuf[128x1 float32]
// CHECK-NEXT: 4  TENSOR_SCALAR         dst=exps@sbuf[128x64 bfloat16], data=exps@sbuf[128x64 bfloat16], operand0=sum@sbuf[128x1 float32], op0=multiply
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 2 instructions
// CHECK-NEXT: 1  ACTIVATE              dst=exps@sbuf[128x64 bfloat16], data=tile@sbuf[128x64 float32], scale=0.125, op=exp, reduce_op=add, reduce_cmd=reset_reduce, name="exps"
// CHECK-NEXT: 2  READ_ACCUMULATORS     reduce_res=sum@sbuf[128x1 float32]
nki.kernel @softmax(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %scale = arith.constant 0.125 : f32
  %out = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %exps = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%x
  nisa.activation dst=%exps, op=exp, data=%tile, scale=%scale, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce, name="exps"
  nisa.reciprocal dst=%sum, data=%sum
  nisa.tensor_scalar dst=%exps, data=%exps, op0=multiply, operand0=%sum
  nisa.dma_copy dst=%out, src=%exps
  nki.return %out
}

// The same for every instruction with reduce_res. Without it nothing is read.
// CHECK: kernel accumulators, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[128x64 float32], value=0
// CHECK-NEXT: 6  EXPONENTIAL           dst=x@sbuf[128x64 float32], src=x@sbuf[128x64 float32], reduce_cmd=reset_reduce
// CHECK-NEXT: 7  READ_ACCUMULATORS     reduce_res=sum@sbuf[128x1 float32]
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 5 instructions
// CHECK-NEXT: 1  ACTIVATE              dst=x@sbuf[128x64 float32], data=x@sbuf[128x64 float32], op=exp, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: 2  ACTIVATE              dst=x@sbuf[128x64 float32], data=x@sbuf[128x64 float32], op=exp, reduce_op=add
// CHECK-NEXT: 3  READ_ACCUMULATORS     reduce_res=sum@sbuf[128x1 float32]
// CHECK-NEXT: 4  ACTIVATE2             dst=x@sbuf[128x64 float32], data=x@sbuf[128x64 float32], imm0=1.0, imm1=1.0, op=exp, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reduce
// CHECK-NEXT: 5  READ_ACCUMULATORS     reduce_res=sum@sbuf[128x1 float32]
nki.kernel @accumulators() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation_reduce dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reset_reduce
  nki.return
}

// A matmul loads its stationary tile, then streams the moving one. Views of one tile are told apart
// by their offset and (stride:count) pairs.
// CHECK: kernel matmul, trn2 (NeuronCore-v3)
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 4 instructions
// CHECK-NEXT: 2  LOAD_STATIONARY       stationary=a@sbuf[128x64 bfloat16]
// CHECK-NEXT: 3  MULTIPLY_MOVING       dst=c@psum[64x256 float32]+0(512:64 1:256), moving=b@sbuf[128x256 bfloat16]+0(512:128 1:256)
// CHECK-NEXT: 4  LOAD_STATIONARY       stationary=a@sbuf[128x64 bfloat16]
// CHECK-NEXT: 5  MULTIPLY_MOVING       dst=c@psum[64x256 float32]+256(512:64 1:256), moving=b@sbuf[128x256 bfloat16]+256(512:128 1:256), accumulate=false, tile_position=[0, 0], tile_size=[128, 64], name="right"
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0  MEMSET                dst=a@sbuf[128x64 bfloat16], value=0
// CHECK-NEXT: 1  MEMSET                dst=b@sbuf[128x512 bfloat16], value=0
nki.kernel @matmul() target=trn2 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x512xbf16, #nki.sbuf>
  %c = nki.alloc : memref<64x512xf32, #nki.psum>
  %left = nki.view %b offset=0 pattern=[[512, 128], [1, 256]]
  %right = nki.view %b offset=256 pattern=[[512, 128], [1, 256]]
  %c_left = nki.view %c offset=0 pattern=[[512, 64], [1, 256]]
  %c_right = nki.view %c offset=256 pattern=[[512, 64], [1, 256]]
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.nc_matmul dst=%c_left, stationary=%a, moving=%left
  nisa.nc_matmul dst=%c_right, stationary=%a, moving=%right, accumulate=false, tile_position=[0, 0], tile_size=[128, 64], name="right"
  nki.return
}

// A view as another data type. Tensors of one name are numbered.
// CHECK: kernel names, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0  MEMSET                dst=x_1@sbuf[128x64 int32], value=0
// CHECK-NEXT: 1  TENSOR_COPY           dst=x@sbuf[128x64 int32]+0(64:128 1:64), src=x_1@sbuf[128x64 int32]
nki.kernel @names() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x_1 = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %bits = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] as i32
  nisa.memset dst=%x_1, value=0
  nisa.tensor_copy dst=%bits, src=%x_1
  nki.return
}

// tensor_tensor: the Vector Engine, but nl.power and all-int32 arithmetic outside PSUM go to the
// GpSimd Engine, unless the author names an engine.
// CHECK: kernel tensor_tensor, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 8 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[32x32 float32], value=0
// CHECK-NEXT: 1  MEMSET                dst=i@sbuf[32x32 int32], value=0
// CHECK-NEXT: 2  MEMSET                dst=u@sbuf[32x32 uint32], value=0
// CHECK-NEXT: 3  TENSOR_TENSOR         dst=x@sbuf[32x32 float32], data1=x@sbuf[32x32 float32], data2=x@sbuf[32x32 float32], op=add
// CHECK-NEXT: 6  TENSOR_TENSOR         dst=x@sbuf[32x32 float32], data1=i@sbuf[32x32 int32], data2=i@sbuf[32x32 int32], op=add
// CHECK-NEXT: 7  TENSOR_TENSOR         dst=i@sbuf[32x32 int32], data1=i@sbuf[32x32 int32], data2=i@sbuf[32x32 int32], op=bitwise_or
// CHECK-NEXT: 8  TENSOR_TENSOR         dst=p@psum[32x32 int32], data1=i@sbuf[32x32 int32], data2=i@sbuf[32x32 int32], op=add
// CHECK-NEXT: 9  TENSOR_TENSOR         dst=i@sbuf[32x32 int32], data1=i@sbuf[32x32 int32], data2=i@sbuf[32x32 int32], op=add
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 3 instructions
// CHECK-NEXT: 4  TENSOR_TENSOR         dst=x@sbuf[32x32 float32], data1=x@sbuf[32x32 float32], data2=x@sbuf[32x32 float32], op=power
// CHECK-NEXT: 5  TENSOR_TENSOR         dst=i@sbuf[32x32 int32], data1=i@sbuf[32x32 int32], data2=u@sbuf[32x32 uint32], op=add
// CHECK-NEXT: 10  TENSOR_TENSOR         dst=x@sbuf[32x32 float32], data1=x@sbuf[32x32 float32], data2=x@sbuf[32x32 float32], op=add
nki.kernel @tensor_tensor() target=trn3 {
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %i = nki.alloc : memref<32x32xi32, #nki.sbuf>
  %u = nki.alloc : memref<32x32xui32, #nki.sbuf>
  %p = nki.alloc : memref<32x32xi32, #nki.psum>
  nisa.memset dst=%x, value=0
  nisa.memset dst=%i, value=0
  nisa.memset dst=%u, value=0
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=add
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=power
  nisa.tensor_tensor dst=%i, data1=%i, data2=%u, op=add
  nisa.tensor_tensor dst=%x, data1=%i, data2=%i, op=add
  nisa.tensor_tensor dst=%i, data1=%i, data2=%i, op=bitwise_or
  nisa.tensor_tensor dst=%p, data1=%i, data2=%i, op=add
  nisa.tensor_tensor dst=%i, data1=%i, data2=%i, op=add, engine=vector
  nisa.tensor_tensor dst=%x, data1=%x, data2=%x, op=add, engine=gpsimd
  nki.return
}

// tensor_scalar: the Vector Engine, but nl.rsqrt goes to the GpSimd Engine.
// CHECK: kernel tensor_scalar, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[32x32 float32], value=0
// CHECK-NEXT: 1  TENSOR_SCALAR         dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32], operand0=1, op0=add, reverse0=true
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 1 instruction
// CHECK-NEXT: 4  TENSOR_SCALAR         dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32], operand0=1, op0=add
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 2 instructions
// CHECK-NEXT: 2  TENSOR_SCALAR         dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32], op0=rsqrt
// CHECK-NEXT: 3  TENSOR_SCALAR         dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32], operand0=1, op0=add, op1=rsqrt
nki.kernel @tensor_scalar() target=trn3 {
  %one = arith.constant 1 : i32
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, reverse0=true
  nisa.tensor_scalar dst=%x, data=%x, op0=rsqrt
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, op1=rsqrt
  nisa.tensor_scalar dst=%x, data=%x, op0=add, operand0=%one, engine=scalar
  nki.return
}

// nc_transpose: the Tensor Engine from SBUF to PSUM, else the Vector Engine.
// CHECK: kernel nc_transpose, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: tensor: 1 instruction
// CHECK-NEXT: 1  TRANSPOSE             dst=p@psum[32x32 float32], data=x@sbuf[32x32 float32]
// CHECK-EMPTY:
// CHECK-NEXT: vector: 4 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[32x32 float32], value=0
// CHECK-NEXT: 2  TRANSPOSE             dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32]
// CHECK-NEXT: 3  TRANSPOSE             dst=x@sbuf[32x32 float32], data=p@psum[32x32 float32]
// CHECK-NEXT: 4  TRANSPOSE             dst=p@psum[32x32 float32], data=x@sbuf[32x32 float32]
nki.kernel @nc_transpose() target=trn3 {
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %p = nki.alloc : memref<32x32xf32, #nki.psum>
  nisa.memset dst=%x, value=0
  nisa.nc_transpose dst=%p, data=%x
  nisa.nc_transpose dst=%x, data=%x
  nisa.nc_transpose dst=%x, data=%p
  nisa.nc_transpose dst=%p, data=%x, engine=vector
  nki.return
}

// Engines that the author names, and the engines of the rest.
// CHECK: kernel others, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 5 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[32x32 float32], value=0
// CHECK-NEXT: 1  TENSOR_COPY           dst=x@sbuf[32x32 float32], src=x@sbuf[32x32 float32]
// CHECK-NEXT: 3  MEMSET                dst=x@sbuf[32x32 float32], value=-0.5
// CHECK-NEXT: 6  TENSOR_REDUCE         dst=column@sbuf[32x1 float32], data=x@sbuf[32x32 float32], op=maximum, axis=[1], negate=true
// CHECK-NEXT: 7  SCALAR_TENSOR_TENSOR  dst=x@sbuf[32x32 float32], data=x@sbuf[32x32 float32], operand0=column@sbuf[32x1 float32], operand1=x@sbuf[32x32 float32], op0=add, op1=multiply
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 1 instruction
// CHECK-NEXT: 2  TENSOR_COPY           dst=x@sbuf[32x32 float32], src=x@sbuf[32x32 float32]
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 2 instructions
// CHECK-NEXT: 4  MEMSET                dst=x@sbuf[32x32 float32], value=0
// CHECK-NEXT: 5  IOTA                  dst=x@sbuf[32x32 float32], offset=5, pattern=[[1, 32]]
nki.kernel @others() target=trn3 {
  %x = nki.alloc : memref<32x32xf32, #nki.sbuf>
  %column = nki.alloc : memref<32x1xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.tensor_copy dst=%x, src=%x
  nisa.tensor_copy dst=%x, src=%x, engine=scalar
  nisa.memset dst=%x, value=-0.5
  nisa.memset dst=%x, value=0, engine=gpsimd
  %five = arith.constant 5 : i32
  nisa.iota dst=%x, pattern=[[1, 32]], offset=%five
  nisa.tensor_reduce dst=%column, op=maximum, data=%x, axis=[1], negate=true
  nisa.scalar_tensor_tensor dst=%x, data=%x, op0=add, operand0=%column, op1=multiply, operand1=%x
  nki.return
}

// A fixed address is part of a tensor's name.
// CHECK: kernel addresses, trn3 (NeuronCore-v4)
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0  MEMSET                dst=x@sbuf[64x32 float32]@(64, 1024), value=1
// CHECK-NEXT: 1  MEMSET                dst=x@sbuf[64x16 float32]@(64, 1024)+16(32:64 1:16), value=2
nki.kernel @addresses() target=trn3 {
  %x = nki.alloc address=[64, 1024] : memref<64x32xf32, #nki.sbuf>
  %half = nki.view %x offset=16 pattern=[[32, 64], [1, 16]]
  nisa.memset dst=%x, value=1
  nisa.memset dst=%half, value=2
  nki.return
}

// A kernel without instructions.
// CHECK: kernel nothing, trn1 (NeuronCore-v2)
nki.kernel @nothing() target=inf2 { nki.return }
