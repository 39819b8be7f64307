// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s
// RUN: nkijit-opt -p allocate,lower-to-engines,schedule -t nki-listing %s | filecheck --match-full-lines %s

// A loop stands in every queue that has instructions in it. In it counts begin anew with each iteration;
// what the previous iteration must have done is waited for by name. Outside it is one instruction: the
// store waits for all of it.
// CHECK: kernel counted, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 2 instructions
// CHECK-NEXT: 0 MEMSET dst=sum[sbuf 0, 0:128, 1:64, float32], value=0 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: 3 wait(dma_load>=1) TENSOR_TENSOR dst=sum[sbuf 0, 0:128, 1:64, float32], data1=sum[sbuf 0, 0:128, 1:64, float32], data2=row[sbuf 256, 0:128, 1:64, float32], op=add signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: } signal(1)
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: 1 wait(previous vector>=1) DMA_TRIGGER transfer=dma_load @2 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-NEXT: 4 wait(vector>=1) DMA_TRIGGER transfer=dma_store @5 loops.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: 2 DMA_COPY dst=row[sbuf 256, 0:128, 1:64, float32], src=x[private_hbm 0 + scalar i*32768, 64:128 1:64, float32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 5 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, float32], src=sum[sbuf 0, 0:128, 1:64, float32] loops.mlir:{{[0-9]+}}
nki.kernel @counted(%x: memref<4x128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %row = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%sum, value=0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
  %x_i = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
  nisa.dma_copy dst=%row, src=%x_i
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%row, op=add
  }
  nisa.dma_copy dst=%out, src=%sum
  nki.return %out
}

// Bounds that registers hold are read in every queue of the loop, but not in rings.
// CHECK: kernel registers, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 260 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=n[sbuf 0, 0:1, 1:1, int32], value=0 signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(sync>=1) READ_BOUNDS loop=i = 0 to r step 1 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: loop i = 0 to r step 1 {
// CHECK-NEXT: 6 wait(dma_load>=1) TENSOR_SCALAR dst=row[sbuf 4, 0:128, 1:64, float32], data=row[sbuf 4, 0:128, 1:64, float32], operand0=1, op0=add signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 1 wait(vector>=1) REGISTER_LOAD dst=r, src=n[sbuf 0, 0:1, 1:1, int32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 READ_BOUNDS loop=i = 0 to r step 1 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: loop i = 0 to r step 1 {
// CHECK-NEXT: 4 wait(previous vector>=1) DMA_TRIGGER transfer=dma_load @5 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: loop i = 0 to r step 1 {
// CHECK-NEXT: 5 DMA_COPY dst=row[sbuf 4, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
nki.kernel @registers(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %n = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %row = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%n, value=0
  %r = nki.register
  nisa.register_load dst=%r, src=%n
  %count = nki.read %r
  scf.for %i = %c0 to %count step %c1 : i32 {
  nisa.dma_copy dst=%row, src=%x
  nisa.tensor_scalar dst=%row, data=%row, op0=add, operand0=%c1
  }
  nki.return
}

// A loop in a loop. An instruction of the outer one waits for all of the inner one. The wait for the
// previous iteration stands at the loop that both are in.
// CHECK: kernel nested, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 5 waits, 4 signals
// CHECK-NEXT: SBUF 768 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=sum[sbuf 0, 0:128, 1:64, float32], value=0 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=all[sbuf 256, 0:128, 1:64, float32], value=0 signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: wait(dma_load>=1, previous scalar>=1) loop j = 0 to 4 step 1 {
// CHECK-NEXT: 5 TENSOR_TENSOR dst=sum[sbuf 0, 0:128, 1:64, float32], data1=sum[sbuf 0, 0:128, 1:64, float32], data2=row[sbuf 512, 0:128, 1:64, float32], op=add loops.mlir:{{[0-9]+}}
// CHECK-NEXT: } signal(1)
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 2 instructions
// CHECK-NEXT: 2 LOAD_TABLE table=square loops.mlir:{{[0-9]+}}
// CHECK-NEXT: wait(vector>=1) loop i = 0 to 4 step 1 {
// CHECK-NEXT: 6 wait(vector>=1) ACTIVATE dst=all[sbuf 256, 0:128, 1:64, float32], data=sum[sbuf 0, 0:128, 1:64, float32], op=copy signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: sync: 1 instruction
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: 3 wait(previous vector>=1) DMA_TRIGGER transfer=dma_load @4 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: loop i = 0 to 4 step 1 {
// CHECK-NEXT: 4 DMA_COPY dst=row[sbuf 512, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
nki.kernel @nested(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %row = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %all = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%sum, value=0
  nisa.memset dst=%all, value=0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
  nisa.dma_copy dst=%row, src=%x
  scf.for %j = %c0 to %c4 step %c1 : i32 {
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%row, op=add
  }
  nisa.activation dst=%all, op=copy, data=%sum
  }
  nki.return
}

// A loop that goes on while a register is not zero: its first instruction in every queue reads it, and
// waits for who has written it in the previous iteration.
// CHECK: kernel whilst, trn3 (NeuronCore-v4)
// CHECK-NEXT: 6 instructions, 4 waits, 4 signals
// CHECK-NEXT: SBUF 4 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 3 instructions
// CHECK-NEXT: 0 MEMSET dst=left[sbuf 0, 0:1, 1:1, int32], value=0 signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: wait(sync>=1) loop while r != 0 {
// CHECK-NEXT: 2 wait(previous sync>=1) TEST loop=while r != 0 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 TENSOR_SCALAR dst=left[sbuf 0, 0:1, 1:1, int32], data=left[sbuf 0, 0:1, 1:1, int32], operand0=1, op0=subtract signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 1 wait(vector>=1) REGISTER_LOAD dst=r, src=left[sbuf 0, 0:1, 1:1, int32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: loop while r != 0 {
// CHECK-NEXT: 3 TEST loop=while r != 0 loops.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(vector>=1) REGISTER_LOAD dst=r, src=left[sbuf 0, 0:1, 1:1, int32] signal(1) loops.mlir:{{[0-9]+}}
// CHECK-NEXT: }
nki.kernel @whilst() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %left = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.memset dst=%left, value=0
  %r = nki.register
  nisa.register_load dst=%r, src=%left
  scf.while () : () -> () {
  %n = nki.read %r
  %more = arith.cmpi ne, %n, %c0 : i32
  scf.condition(%more)
  } do {
  nisa.tensor_scalar dst=%left, data=%left, op0=subtract, operand0=%c1
  nisa.register_load dst=%r, src=%left
  scf.yield
  }
  nki.return
}
