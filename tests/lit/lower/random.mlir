// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// Every engine has generators of its own; the author's engine keeps them apart.
// CHECK: kernel generators, trn3 (NeuronCore-v4)
// CHECK-NEXT: 9 instructions, 2 waits, 2 signals
// CHECK-NEXT: SBUF 668 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 6 instructions
// CHECK-NEXT: 0 MEMSET dst=seed[sbuf 0, 0:1, 1:1, int32], value=0 random.mlir:{{[0-9]+}}
// CHECK-NEXT: 1 MEMSET dst=state[sbuf 4, 0:128, 1:6, uint32], value=0 signal(1) random.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 SET_RNG_SEED src_seeds=seed[sbuf 0, 0:1, 1:1, int32] random.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 RAND2 dst=x[sbuf 28, 0:128, 1:64, float32], min=0.0, max=0.5 random.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 DROPOUT dst=y[sbuf 284, 0:128, 1:64, float32], data=x[sbuf 28, 0:128, 1:64, float32], prob=0.5 random.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 RNG dst=bits[sbuf 540, 0:128, 1:64, uint16] signal(2) random.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: gpsimd: 3 instructions
// CHECK-NEXT: 3 wait(vector>=1) RAND_SET_STATE src_seeds=state[sbuf 4, 0:128, 1:6, uint32] random.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 wait(vector>=2) RNG dst=bits[sbuf 540, 0:128, 1:64, uint16] random.mlir:{{[0-9]+}}
// CHECK-NEXT: 8 RAND_GET_STATE dst=state[sbuf 4, 0:128, 1:6, uint32] random.mlir:{{[0-9]+}}
nki.kernel @generators() target=trn3 {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %seed = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %state = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %bits = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %y = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%seed, value=0
  nisa.memset dst=%state, value=0
  nisa.set_rng_seed src_seeds=%seed
  nisa.rand_set_state src_seeds=%state
  nisa.rand2 dst=%x, min=%zero, max=%half
  nisa.dropout dst=%y, data=%x, prob=%half
  nisa.rng dst=%bits
  nisa.rng dst=%bits, engine=gpsimd
  nisa.rand_get_state dst=%state
  nki.return
}
