// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A wait that another one implies is left out: the store waits for the Scalar Engine alone, which has
// waited for the others.
// CHECK: kernel implied, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 3 waits, 3 signals
// CHECK-NEXT: SBUF 256 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_load @1 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 wait(scalar>=1) DMA_TRIGGER transfer=dma_store @6 waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 1 instruction
// CHECK-NEXT: 1 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 2 wait(dma_load>=1) TENSOR_SCALAR dst=a[sbuf 0, 0:128, 1:64, float32], data=a[sbuf 0, 0:128, 1:64, float32], operand0=1, op0=add signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 2 instructions
// CHECK-NEXT: 3 LOAD_TABLE table=square waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(vector>=1) ACTIVATE dst=a[sbuf 0, 0:128, 1:64, float32], data=a[sbuf 0, 0:128, 1:64, float32], op=copy signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 6 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32] waits.mlir:{{[0-9]+}}
nki.kernel @implied(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_scalar dst=%a, data=%a, op0=add, operand0=%c1
  nisa.activation dst=%a, op=copy, data=%a
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// An edge of the author is a wait like others.
// CHECK: kernel author, trn3 (NeuronCore-v4)
// CHECK-NEXT: 2 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=a[sbuf 0, 0:128, 1:64, float32], value=0, name="first" signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 1 wait(vector>=1) MEMSET dst=b[sbuf 256, 0:128, 1:64, float32], value=0 waits.mlir:{{[0-9]+}}
nki.kernel @author() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0, name="first"
  nisa.memset dst=%b, value=0, engine=gpsimd, after=["first"]
  nki.return
}

// The Sync Engine starts loads that are ready in front of a store that is not; where the author says so
// it keeps the order.
// CHECK: kernel order, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_load @1 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DMA_TRIGGER transfer=dma_load @6 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=1) DMA_TRIGGER transfer=dma_store @4 waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 2 instructions
// CHECK-NEXT: 1 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 DMA_COPY dst=b[sbuf 256, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 2 wait(dma_load>=1) TENSOR_SCALAR dst=a[sbuf 0, 0:128, 1:64, float32], data=a[sbuf 0, 0:128, 1:64, float32], operand0=1, op0=add signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 4 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32] waits.mlir:{{[0-9]+}}
nki.kernel @order(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_scalar dst=%a, data=%a, op0=add, operand0=%c1
  nisa.dma_copy dst=%out, src=%a
  nisa.dma_copy dst=%b, src=%x
  nki.return %out
}

// The same in order.
// CHECK: kernel kept, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 512 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_load @1 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(vector>=1) DMA_TRIGGER transfer=dma_store @4 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DMA_TRIGGER transfer=dma_load @6 waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_load: 2 instructions
// CHECK-NEXT: 1 DMA_COPY dst=a[sbuf 0, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] signal(1) waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 DMA_COPY dst=b[sbuf 256, 0:128, 1:64, float32], src=x[private_hbm 0, 64:128 1:64, float32] waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 2 wait(dma_load>=1) TENSOR_SCALAR dst=a[sbuf 0, 0:128, 1:64, float32], data=a[sbuf 0, 0:128, 1:64, float32], operand0=1, op0=add signal(1) waits.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_store: 1 instruction
// CHECK-NEXT: 4 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, float32], src=a[sbuf 0, 0:128, 1:64, float32] waits.mlir:{{[0-9]+}}
nki.kernel @kept(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.tensor_scalar dst=%a, data=%a, op0=add, operand0=%c1
  nki.no_reorder {
  nisa.dma_copy dst=%out, src=%a
  nisa.dma_copy dst=%b, src=%x
  }
  nki.return %out
}

// In each iteration of a loop a store that waits holds up no other one, and nothing passes the loop.
// CHECK: kernel iterations, trn3 (NeuronCore-v4)
// CHECK: sync: 4 instructions
// CHECK-NEXT: 0 DMA_TRIGGER transfer=dma_load @1 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: wait(dma_load>=1) loop i = 0 to 3 step 1 {
// CHECK-NEXT: 6 wait(previous dma_store>=1) DMA_TRIGGER transfer=dma_store @7 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 wait(vector>=1) DMA_TRIGGER transfer=dma_store @5 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-NEXT: 8 wait(vector>=1, dma_store>=1) DMA_TRIGGER transfer=dma_load @9 waits.mlir:{{[0-9]+}}
// CHECK: dma_store: 2 instructions
// CHECK-NEXT: loop i = 0 to 3 step 1 {
// CHECK-NEXT: 7 DMA_COPY dst=out{{.*}} signal(1) waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DMA_COPY dst=out{{.*}} signal(2) waits.mlir:{{[0-9]+}}
// CHECK-NEXT: } signal(1)
nki.kernel @iterations(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %out = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %one = nki.view %out offset=0 pattern=[[64, 128], [1, 64]]
  %two = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  scf.for %i = %c0 to %c3 step %c1 : i32 {
    nisa.tensor_tensor dst=%b, data1=%a, data2=%a, op=add, engine=vector
    nisa.tensor_tensor dst=%b, data1=%b, data2=%a, op=add, engine=vector
    nisa.dma_copy dst=%one, src=%b
    nisa.dma_copy dst=%two, src=%a
  }
  nisa.dma_copy dst=%a, src=%x
  nki.return %out
}

// A load that waits for its data holds up none of its ring that does not.
// CHECK: kernel around, trn3 (NeuronCore-v4)
// CHECK: sync: 4 instructions
// CHECK-NEXT: 5 DMA_TRIGGER transfer=dma_load @6 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 wait(vector>=1) DMA_TRIGGER transfer=dma_store @2 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 wait(dma_store>=1) DMA_TRIGGER transfer=dma_load @4 waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 wait(vector>=2) DMA_TRIGGER transfer=dma_store @9 waits.mlir:{{[0-9]+}}
// CHECK: dma_load: 2 instructions
// CHECK-NEXT: 6 DMA_COPY dst=c{{.*}} waits.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 DMA_COPY dst=b{{.*}} waits.mlir:{{[0-9]+}}
nki.kernel @around(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %scratch = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%a, value=1
  nisa.dma_copy dst=%scratch, src=%a
  nisa.dma_copy dst=%b, src=%scratch
  nisa.dma_copy dst=%c, src=%x
  nisa.tensor_tensor dst=%b, data1=%b, data2=%c, op=add
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
