// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Generated patterns: what the rules forbid. A kernel here breaks one rule, for one operand or
// argument after the other; where it cannot break one alone, its comment says so. The kernel of
// the same name in valid.mlir differs in that one thing and is silent.

// 'dst' is in PSUM, which the GpSimd Engine cannot reach, or in HBM.
// CHECK: error[buffer]: nisa.iota: 'dst' must be in sbuf, it is in psum
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.iota dst=%near, pattern=[[1, 64]]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %near, psum 128x64 int32, allocated at {{.*}}
// CHECK-NEXT: = help: write to a tile that is allocated with buffer=nl.sbuf, and copy it from there with nisa.tensor_copy
// CHECK: error[buffer]: nisa.iota: 'dst' must be in sbuf, it is in private_hbm
nki.kernel @iota_buffer() target=trn3 {
  %near = nki.alloc : memref<128x64xi32, #nki.psum>
  %far = nki.alloc : memref<128x64xi32, #nki.private_hbm>
  nisa.iota dst=%near, pattern=[[1, 64]]
  nisa.iota dst=%far, pattern=[[1, 64]]
  nki.return
}

// A pattern has one to four pairs, here are none and five.
// CHECK: error[pattern]: nisa.iota: 'pattern' has 0 pairs, 1 to 4 are possible
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.iota dst=%dst, pattern=[]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: make the product of the counts equal to the elements per partition of dst
// CHECK: error[pattern]: nisa.iota: 'pattern' has 5 pairs, 1 to 4 are possible
nki.kernel @iota_pairs() target=trn3 {
  %dst = nki.alloc : memref<128x32xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[]
  nisa.iota dst=%dst, pattern=[[16, 2], [8, 2], [4, 2], [2, 2], [1, 2]]
  nki.return
}

// A count is 0, or below.
// CHECK: error[pattern]: nisa.iota: 'pattern' has counts [32, 0], each must be positive
// CHECK: error[pattern]: nisa.iota: 'pattern' has counts [-8, 4], each must be positive
nki.kernel @iota_counts() target=trn3 {
  %dst = nki.alloc : memref<128x32xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[0, 32], [1, 0]]
  nisa.iota dst=%dst, pattern=[[-4, -8], [-1, 4]]
  nki.return
}

// The pattern has half of the elements of a partition of 'dst'.
// CHECK: error[pattern]: nisa.iota: 'pattern' has 32 elements, 'dst' has 64 per partition
nki.kernel @iota_size() target=trn3 {
  %dst = nki.alloc : memref<128x4x16xi32, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[16, 2], [1, 16]]
  nki.return
}

// 'dst' is of a packed type, which engines do not convert to.
// CHECK: error[dtype-computable]: nisa.iota: engines do not convert 'dst', a float8_e5m2_x4
// CHECK-NEXT: --> {{.*}}invalid.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.iota dst=%dst, pattern=[[0, 32]]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = dst: %dst, sbuf 128x32 float8_e5m2_x4, allocated at {{.*}}
// CHECK-NEXT: = help: copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before nisa.quantize_mx packs it
nki.kernel @iota_packed() target=trn3 {
  %dst = nki.alloc : memref<128x32x!nki.f8E5M2x4, #nki.sbuf>
  nisa.iota dst=%dst, pattern=[[0, 32]]
  nki.return
}

// A value is too large to be exact.
// CHECK: warning[rounded-pattern]: nisa.iota: values reach 257, and bfloat16 holds integers exactly up to 256 only
// CHECK: = help: generate the pattern as nl.int32, or as nl.float32 up to 2**24
// CHECK: warning[rounded-pattern]: nisa.iota: values reach 1148, and bfloat16 holds integers exactly up to 512 only
// CHECK: warning[rounded-pattern]: nisa.iota: values reach -2049, and float16 holds integers exactly up to 2048 only
nki.kernel @iota_rounded() target=trn3 {
  %c2 = arith.constant 2 : i32
  %c-126 = arith.constant -126 : i32
  %c-2 = arith.constant -2 : i32
  %short = nki.alloc : memref<128x256xbf16, #nki.sbuf>
  %half = nki.alloc : memref<128x2048xf16, #nki.sbuf>
  nisa.iota dst=%short, pattern=[[1, 256]], offset=%c2
  nisa.iota dst=%short, pattern=[[4, 256]], channel_multiplier=2, offset=%c-126
  nisa.iota dst=%half, pattern=[[-1, 2048]], offset=%c-2
  nki.return
}

// CHECK: 8 errors and 3 warnings
