// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A collective in two parts: what it needs to know is read on the way, and the transfer follows.
// CHECK: kernel exchange, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 0 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 0 ALL_TO_ALL_V_PREPARE metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 DMA_TRIGGER transfer=dma_copy @2 parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 1 instruction
// CHECK-NEXT: 2 ALL_TO_ALL_V dsts=d[private_hbm 0, 64:4 1:64, float32], srcs=x[private_hbm 0, 64:4 1:64, float32], metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
nki.kernel @exchange(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_to_all_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// CHECK: kernel gather_core0, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 0 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 0 ALL_GATHER_V_PREPARE metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 DMA_TRIGGER transfer=dma_copy @2 parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 1 instruction
// CHECK-NEXT: 2 ALL_GATHER_V dsts=d[private_hbm 0, 64:4 1:64, float32], srcs=x[private_hbm 0, 64:4 1:64, float32], metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
nki.kernel @gather_core0(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
// CHECK: kernel gather_core1, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 0 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 2 instructions
// CHECK-NEXT: 0 ALL_GATHER_V_PREPARE metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 DMA_TRIGGER transfer=dma_copy @2 parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: dma_copy: 1 instruction
// CHECK-NEXT: 2 ALL_GATHER_V dsts=d[private_hbm 0, 64:4 1:64, float32], srcs=x[private_hbm 0, 64:4 1:64, float32], metadata_tensor=m[private_hbm 0, 4:3 1:4, uint32], replica_group={{\[\[}}0, 1, 2, 3]] parts-and-scalars.mlir:{{[0-9]+}}
nki.kernel @gather_core1(%x: memref<4x64xf32, #nki.private_hbm>, %m: memref<3x4xui32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_gather_v_prepare replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  ncc.all_gather_v_trigger srcs=[%x], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Scalars.
// CHECK: kernel scalars, trn3 (NeuronCore-v4)
// CHECK-NEXT: 3 instructions, 0 waits, 0 signals
// CHECK-NEXT: SBUF 0 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: sync: 3 instructions
// CHECK-NEXT: 0 REGISTER_LOAD dst=i, src=x[private_hbm 0, 1:1, int32] parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 REGISTER_COMPUTE dst=j, data1=i, data2=4, op=multiply parts-and-scalars.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 REGISTER_STORE dst=x[private_hbm 0, 1:1, int32], src=j parts-and-scalars.mlir:{{[0-9]+}}
nki.kernel @scalars(%x: memref<1xi32, #nki.private_hbm>) target=trn3 {
  %c4 = arith.constant 4 : i32
  %i = nki.register
  nisa.register_load dst=%i, src=%x
  %j = nki.register
  nisa.register_compute dst=%j, data1=%i, data2=%c4, op=multiply
  nisa.register_store dst=%x, src=%j
  nki.return
}
