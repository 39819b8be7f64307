// RUN: not nkijit-opt -p verify-launch %s 2>&1 | filecheck %s
// RUN: not nkijit verify %s | filecheck %s

// The programs of two cores: arguments, tensors in shared HBM, and results are the same.

// What is private may differ, and so may what the cores do.
nki.kernel @fits_core0(%x: memref<2x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %t = nki.alloc : memref<2x4xf32, #nki.sbuf>
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%t, src=%x
  nisa.dma_copy dst=%out, src=%t
  nki.return %out
}
nki.kernel @fits_core1(%x: memref<2x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return %out
}

// CHECK: error[cores-differ]: nki.kernel: 'targets' on core 1 is for trn2, core 0 for trn3
nki.kernel @targets_core0() target=trn3 program=[0, 2] {
  nki.return
}
nki.kernel @targets_core1() target=trn2 program=[1, 2] {
  nki.return
}

// CHECK: error[cores-differ]: nki.kernel: 'arguments' on core 1 has other arguments than on core 0
nki.kernel @arguments_core0(%x: memref<2x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  nki.return
}
nki.kernel @arguments_core1(%x: memref<4x2xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  nki.return
}

// CHECK: error[cores-differ]: nki.alloc: core 0 of 'missing' allocates nothing more in shared HBM where core 1 allocates 'more' (shared_hbm 2x4 float32)
nki.kernel @missing_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return
}
nki.kernel @missing_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %more = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return
}

// CHECK: error[cores-differ]: nki.alloc: core 0 of 'other' allocates 'a' (shared_hbm 2x4 float32) in shared HBM where core 1 allocates 'b' (shared_hbm 2x4 float32)
// CHECK-NEXT: --> {{.*}}verify-launch.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-launch.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | %b = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
// CHECK-NEXT: | {{-+}} core 1 allocates here
nki.kernel @other_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return
}
nki.kernel @other_core1() target=trn3 program=[1, 2] {
  %b = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return
}

// CHECK: error[cores-differ]: nki.kernel: 'results' on core 1 returns something else than on core 0
nki.kernel @results_core0(%x: memref<2x4xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%x
  nki.return (%a, %b)
}
nki.kernel @results_core1(%x: memref<2x4xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<2x4xf32, #nki.shared_hbm>
  nki.return (%b, %a)
}

// What differs is told once: which tensors are the same is not known, so nothing follows from it.
// CHECK: error[cores-differ]: nki.alloc: core 0 of 'used' allocates 'more' (shared_hbm 8x8 float32) in shared HBM where core 1 allocates 'out' (shared_hbm 4x8 float32)
// CHECK-NOT: 'used'
nki.kernel @used_core0(%x: memref<4x8xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
  %more = nki.alloc : memref<8x8xf32, #nki.shared_hbm>
  %out = nki.alloc : memref<4x8xf32, #nki.shared_hbm>
  %low = nki.view %more offset=0 pattern=[[8, 4], [1, 8]]
  nisa.dma_copy dst=%low, src=%x
  nisa.dma_copy dst=%out, src=%low
  nki.return %out
}
nki.kernel @used_core1(%x: memref<4x8xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<4x8xf32, #nki.shared_hbm>
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}
// CHECK: 6 errors
