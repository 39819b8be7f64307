// RUN: not nkijit-opt -p verify-access %s 2>&1 | filecheck %s
// RUN: nkijit-opt -p verify-buffers,verify-shapes %s | filecheck %s --check-prefix=UNCHANGED

// Access patterns that no engine can walk. The pass reports its category only.

// UNCHANGED-LABEL: nki.kernel @partition_step
nki.kernel @partition_step() target=trn3 {
  %t = nki.alloc : memref<128x8xf32, #nki.sbuf>
  // Every second partition.
  // CHECK: error[partition-step]: nki.view: the partition dimension of the view has a step of 2
  // CHECK-NEXT: --> {{.*}}verify-access.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | %every_second = nki.view %t offset=0 pattern={{.*}}
  // CHECK-NEXT: | {{\^+}}
  // CHECK: = help: slice a run of partitions, or move rows with nisa.dma_copy to and from HBM
  %every_second = nki.view %t offset=0 pattern=[[16, 64], [1, 8]]
  nisa.memset dst=%every_second, value=0
  // The same partition again and again.
  // CHECK: error[partition-step]: nki.view: the partition dimension of the view has a step of 0
  %repeated = nki.view %t offset=0 pattern=[[0, 64], [1, 8]]
  nisa.memset dst=%repeated, value=0
  // A run of partitions, one partition, and the same bytes as another type are fine.
  // CHECK-NOT: error[
  %run = nki.view %t offset=512 pattern=[[8, 64], [1, 8]]
  %one = nki.view %t offset=8 pattern=[[1, 1], [1, 8]]
  %halves = nki.view %t offset=0 pattern=[[16, 128], [1, 16]] as bf16
  nki.return
}

// HBM has no partitions: any step will do.
nki.kernel @hbm(%x: memref<128x8xf32, #nki.private_hbm>) target=trn3 {
  %every_second = nki.view %x offset=0 pattern=[[16, 64], [1, 8]]
  nki.return
}

// CHECK: 2 errors
