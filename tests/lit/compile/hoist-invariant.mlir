// RUN: nkijit-opt %s -p hoist-invariant | filecheck %s

// A load and what is made of it leave both loops, with their tile.
// CHECK-LABEL: nki.kernel @nested
nki.kernel @nested(%x: memref<4x128x64xf32, #nki.shared_hbm>, %y: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<4x128x64xf32, #nki.shared_hbm>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  // CHECK: %a = nki.alloc
  // CHECK: nisa.dma_copy dst=%a, src=%y
  // CHECK: nisa.activation dst=%b, op=exp, data=%a
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    // CHECK-NEXT: scf.for
    scf.for %j = %c0 to %c4 step %c1 : i32 {
      %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
      %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
      %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
      %xi = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
      %oi = nki.view %out offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
      // CHECK-NOT: src=%y
      nisa.dma_copy dst=%a, src=%y
      nisa.activation dst=%b, op=exp, data=%a
      // CHECK: nisa.dma_copy dst=%c
      nisa.dma_copy dst=%c, src=%xi
      nisa.tensor_tensor dst=%c, data1=%c, data2=%b, op=multiply
      nisa.dma_copy dst=%oi, src=%c
    }
  }
  nki.return %out
}

// A loop may not run at all: what is read behind it is not changed before it.
// CHECK-LABEL: nki.kernel @may_not_run
nki.kernel @may_not_run(%y: memref<128x64xf32, #nki.shared_hbm>, %n: memref<1x1xi32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %number = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = nki.register
  nisa.dma_copy dst=%number, src=%n
  nisa.register_load dst=%end, src=%number
  nisa.memset dst=%a, value=0.0
  %last = nki.read %end
  // CHECK: nisa.memset dst=%b
  // CHECK: scf.for
  scf.for %i = %c0 to %last step %c1 : i32 {
    // CHECK-NEXT: nisa.dma_copy dst=%a, src=%y
    nisa.dma_copy dst=%a, src=%y
    nisa.memset dst=%b, value=0.0
    nisa.dma_copy dst=%out, src=%b
  }
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// What is read or written in the loop besides stays in it.
// CHECK-LABEL: nki.kernel @changes
nki.kernel @changes(%y: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  nisa.dma_copy dst=%a, src=%y
  nisa.dma_copy dst=%b, src=%y
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.tensor_tensor dst=%a, data1=%a, data2=%b, op=add
    // CHECK: nisa.activation dst=%b, op=exp, data=%a
    nisa.activation dst=%b, op=exp, data=%a
    // CHECK: nisa.memset dst=%a
    nisa.memset dst=%a, value=1.0
  }
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
