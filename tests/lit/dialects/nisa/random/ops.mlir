// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the random number instructions: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @numbers() target=trn3 {
nki.kernel @numbers() target=trn3 {
  %low = arith.constant -1.5 : f32
  %half = arith.constant 0.5 : f32
  %bits = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xbf16, #nki.psum>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  // CHECK: nisa.rng dst=%bits
  nisa.rng dst=%bits
  // The default is left out.
  // CHECK-NEXT: nisa.rng dst=%bits, engine=gpsimd, name="bits"
  nisa.rng dst=%bits, engine=gpsimd, name="bits"
  // Numbers, then tiles, as limits.
  // CHECK-NEXT: nisa.rand2 dst=%tile, min=%low, max=%half
  nisa.rand2 dst=%tile, min=%low, max=%half
  // CHECK-NEXT: nisa.rand2 dst=%tile, min=%column, max=%column, name="noise"
  nisa.rand2 dst=%tile, min=%column, max=%column, name="noise"
  // A number, then a tile, as probability.
  // CHECK-NEXT: nisa.dropout dst=%tile, data=%tile, prob=%half
  nisa.dropout dst=%tile, data=%tile, prob=%half
  // CHECK-NEXT: nisa.dropout dst=%tile, data=%tile, prob=%column, name="drop"
  nisa.dropout dst=%tile, data=%tile, prob=%column, name="drop"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @states() target=trn3 {
nki.kernel @states() target=trn3 {
  %seed = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %six = nki.alloc : memref<128x6xui32, #nki.sbuf>
  %many = nki.alloc : memref<128x24xui32, #nki.sbuf>
  // CHECK: nisa.set_rng_seed src_seeds=%seed
  nisa.set_rng_seed src_seeds=%seed
  // CHECK-NEXT: nisa.set_rng_seed src_seeds=%seed, name="seed"
  nisa.set_rng_seed src_seeds=%seed, name="seed"
  // CHECK-NEXT: nisa.rand_set_state src_seeds=%six
  nisa.rand_set_state src_seeds=%six
  // CHECK-NEXT: nisa.rand_set_state src_seeds=%many, engine=vector, name="restore"
  nisa.rand_set_state src_seeds=%many, engine=vector, name="restore"
  // CHECK-NEXT: nisa.rand_get_state dst=%six
  nisa.rand_get_state dst=%six
  // CHECK-NEXT: nisa.rand_get_state dst=%many, engine=vector, name="save"
  nisa.rand_get_state dst=%many, engine=vector, name="save"
  // CHECK-NEXT: nki.return
  nki.return
}
