// RUN: not nkijit-opt -p verify-capacity %s 2>&1 | filecheck %s

// What is in use at one time fits into SBUF and PSUM.

// Three tiles of 81,920 bytes are 8 bytes more than a kernel has on trn3. A compiler stores one of
// 128 partitions, and loads it again.
nki.kernel @sbuf() target=trn3 {
  %a = nki.alloc : memref<128x20480xf32, #nki.sbuf>
  %b = nki.alloc name="a table" : memref<128x40960xbf16, #nki.sbuf>
  %c = nki.alloc : memref<128x20480xf32, #nki.sbuf>
  %small = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  // CHECK: warning[sbuf-spill]: nisa.tensor_copy: the tiles in use here need 245760 bytes per partition of SBUF, trn3 has 245752 for a kernel; a compiler moves 20971520 bytes more through HBM
  // CHECK-NEXT: --> {{.*}}verify-capacity.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%c, src=%a
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: = tile shape and type bytes in use allocated at
  // CHECK-NEXT: = %a 128x20480 float32 81920 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
  // CHECK-NEXT: = %a table 128x40960 bfloat16 81920 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
  // CHECK-NEXT: = %c 128x20480 float32 81920 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
  // CHECK-NEXT: = help: keep 'a' in bfloat16, which takes half of its 81920 bytes
  nisa.tensor_copy dst=%c, src=%a
  nisa.tensor_copy dst=%c, src=%b
  nisa.memset dst=%small, value=0
  nki.return
}

// Tiles of half the partitions take half: two of them lie beside each other, a third does not.
nki.kernel @narrow() target=trn3 {
  %a = nki.alloc : memref<64x61438xf32, #nki.sbuf>
  %b = nki.alloc : memref<64x61438xf32, #nki.sbuf>
  %c = nki.alloc : memref<33x2xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  // CHECK: error[sbuf-capacity]: nisa.memset: the tiles in use here need 245756 bytes per partition of SBUF, trn3 has 245752 for a kernel
  // CHECK: = help: keep 'a' in bfloat16, which takes half of its 245752 bytes
  nisa.memset dst=%c, value=0
  nisa.tensor_copy dst=%a, src=%b
  nisa.tensor_copy dst=%c, src=%c
  nki.return
}

// A loop carries %sum from one iteration to the next.
nki.kernel @carried() target=trn1 {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %sum = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  nisa.memset dst=%sum, value=0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.memset dst=%a, value=1
    nisa.tensor_tensor dst=%sum, data1=%sum, data2=%a, op=add
    nisa.memset dst=%a, value=1
    // CHECK: error[sbuf-capacity]: nisa.tensor_copy: the tiles in use here need 240000 bytes per partition of SBUF, trn1 has 180224 for a kernel
    // CHECK-NEXT: --> {{.*}}verify-capacity.mlir:{{.*}}
    // CHECK-NEXT: |
    // CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%b, src=%a
    // CHECK-NEXT: | {{\^+}}
    // CHECK-NEXT: = tile shape and type bytes in use allocated at
    // CHECK-NEXT: = %sum 128x20000 float32 80000 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
    // CHECK-NEXT: = %a 128x20000 float32 80000 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
    // CHECK-NEXT: = %b 128x20000 float32 80000 lines {{[0-9]+ to [0-9]+}} {{.*}}verify-capacity.mlir:{{.*}}
    // CHECK: = help: split 'sum' into parts and work on one at a time, or load it later
    nisa.tensor_copy dst=%b, src=%a
    nisa.memset dst=%b, value=1
  }
  nki.return
}

// Nine tiles that fill more than half of a bank need nine banks; the bytes alone would fit.
nki.kernel @banks() target=trn2 {
  %a0 = nki.alloc : memref<128x300xf32, #nki.psum>
  %a1 = nki.alloc : memref<128x300xf32, #nki.psum>
  %a2 = nki.alloc : memref<128x300xf32, #nki.psum>
  %a3 = nki.alloc : memref<128x300xf32, #nki.psum>
  %a4 = nki.alloc : memref<128x300xf32, #nki.psum>
  %a5 = nki.alloc : memref<128x300xf32, #nki.psum>
  %large = nki.alloc : memref<128x1500xf32, #nki.psum>
  nisa.memset dst=%a0, value=0
  nisa.memset dst=%a1, value=0
  nisa.memset dst=%a2, value=0
  nisa.memset dst=%a3, value=0
  nisa.memset dst=%a4, value=0
  nisa.memset dst=%a5, value=0
  // CHECK: error[psum-capacity]: nisa.memset: the tiles in use here need 9 banks of PSUM, trn2 has 8
  // CHECK: = help: copy each result to SBUF with nisa.tensor_copy before the next matmuls, so that its banks are free again; nkijit memory shows what is in use together
  nisa.memset dst=%large, value=0
  nisa.memset dst=%a0, value=0
  nisa.memset dst=%a1, value=0
  nisa.memset dst=%a2, value=0
  nisa.memset dst=%a3, value=0
  nisa.memset dst=%a4, value=0
  nisa.memset dst=%a5, value=0
  nisa.memset dst=%large, value=0
  nki.return
}

nki.kernel @psum_bytes() target=trn2 {
  %a = nki.alloc : memref<128x4096xf32, #nki.psum>
  %b = nki.alloc : memref<128x1xf32, #nki.psum>
  nisa.memset dst=%a, value=0
  // CHECK: error[psum-capacity]: nisa.tensor_copy: the tiles in use here need 16388 bytes per partition of PSUM, trn2 has 16384 for a kernel
  nisa.tensor_copy dst=%b, src=%a
  nki.return
}

// There are bytes enough, but not in one piece: %fixed lies in the middle.
nki.kernel @fixed() target=trn3 {
  %fixed = nki.alloc address=[0, 122880] : memref<128x1024xf32, #nki.sbuf>
  // CHECK: warning[no-layout]: nki.alloc: no address in SBUF was found for this tile: the best assignment ends at byte 246976 of 245752, though never more than 244096 are in use
  // CHECK-NEXT: --> {{.*}}verify-capacity.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | %b = nki.alloc : memref<128x30000xf32, #nki.sbuf>
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: = result: %b, sbuf 128x30000 float32, allocated at {{.*}}
  // CHECK-NEXT: = in use with it: %fixed, sbuf 128x1024 float32, allocated at {{.*}}, fixed at (0, 122880)
  // CHECK-NEXT: = help: move fixed addresses together so that the free bytes are in one piece, or leave address= out
  %a = nki.alloc : memref<128x30000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x30000xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%fixed, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.memset dst=%fixed, value=0
  nisa.tensor_copy dst=%a, src=%b
  nki.return
}

// The legal neighbours: as much as there is, narrow tiles side by side, a tile that every
// iteration writes anew, eight banks, small tiles that share one, a fixed tile at the edge, fixed
// tiles at one address, tiles that nothing uses, and a tile that is too large by itself, which is
// a finding of another pass.
// CHECK-NOT: error[
// CHECK-NOT: warning[
nki.kernel @sbuf_full() target=trn3 {
  %a = nki.alloc : memref<128x20480xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x40960xbf16, #nki.sbuf>
  %c = nki.alloc : memref<128x20478xf32, #nki.sbuf>
  %unused = nki.alloc : memref<128x20478xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.tensor_copy dst=%c, src=%a
  nisa.tensor_copy dst=%c, src=%b
  nki.return
}

nki.kernel @narrow_fits() target=trn3 {
  %a = nki.alloc : memref<64x61438xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x61438xf32, #nki.sbuf>
  %c = nki.alloc : memref<1x61438xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%c, value=0
  nisa.tensor_copy dst=%a, src=%b
  nisa.tensor_copy dst=%c, src=%c
  nki.return
}

nki.kernel @in_an_iteration() target=trn1 {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %last = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x20000xf32, #nki.sbuf>
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.memset dst=%last, value=0
    nisa.memset dst=%a, value=1
    nisa.tensor_tensor dst=%last, data1=%last, data2=%a, op=add
    nisa.memset dst=%a, value=1
    nisa.tensor_copy dst=%b, src=%a
    nisa.memset dst=%b, value=1
  }
  nki.return
}

nki.kernel @eight_banks() target=trn2 {
  %a = nki.alloc : memref<128x300xf32, #nki.psum>
  %small = nki.alloc : memref<128x100xf32, #nki.psum>
  %b = nki.alloc : memref<128x300xf32, #nki.psum>
  %large = nki.alloc : memref<128x3072xf32, #nki.psum>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%small, value=0
  nisa.memset dst=%large, value=0
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%small, value=0
  nki.return
}

nki.kernel @fixed_at_the_edge() target=trn3 {
  %fixed = nki.alloc address=[0, 0] : memref<128x1024xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x30000xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x30000xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%fixed, value=0
  nisa.tensor_copy dst=%b, src=%a
  nisa.memset dst=%fixed, value=0
  nisa.tensor_copy dst=%a, src=%b
  nki.return
}

nki.kernel @fixed_at_one_address() target=trn3 {
  %a = nki.alloc address=[0, 0] : memref<128x60000xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 0] : memref<128x60000xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%a, value=0
  nki.return
}

nki.kernel @too_large_by_itself() target=trn3 {
  %a = nki.alloc : memref<128x61439xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x4096xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0
  nisa.memset dst=%b, value=0
  nisa.memset dst=%a, value=0
  nki.return
}

// CHECK: 4 errors and 2 warnings
