// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// CHECK: kernel indices, trn3 (NeuronCore-v4)
// CHECK-NEXT: 1 instruction, 0 waits, 0 signals
// CHECK-NEXT: SBUF 128 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 1 instruction
// CHECK-NEXT: 0 IOTA dst=x[sbuf 0, 0:128, 1:32, int32], offset=5, pattern={{\[\[}}1, 32]], channel_multiplier=32 pattern.mlir:{{[0-9]+}}
nki.kernel @indices() target=trn3 {
  %five = arith.constant 5 : i32
  %x = nki.alloc : memref<128x32xi32, #nki.sbuf>
  nisa.iota dst=%x, pattern=[[1, 32]], offset=%five, channel_multiplier=32
  nki.return
}
