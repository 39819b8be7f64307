// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of lowered programs: parsed, printed, and parsed again.

// With waits and signals; a loop in one queue, with a bound that a register holds.
// CHECK-LABEL: engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %c4 = arith.constant 4 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
// CHECK-NEXT: engine.queue sync {
// CHECK-NEXT: engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
// CHECK-NEXT: engine.trigger 1 of 2
// CHECK-NEXT: }
// CHECK-NEXT: engine.queue dma_load {
// CHECK-NEXT: engine.issue 2 signal=1 do nisa.dma_copy dst=%t, src=%x
// CHECK-NEXT: }
// CHECK-NEXT: engine.queue scalar {
// CHECK-NEXT: engine.load_table 3 "exp" of 5
// CHECK-NEXT: engine.test 4 of loop 0 wait=[sync>=1 true upper]
// CHECK-NEXT: engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
// CHECK-NEXT: engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
    engine.trigger 1 of 2
  }
  engine.queue dma_load {
    engine.issue 2 signal=1 do nisa.dma_copy dst=%t, src=%x
  }
  engine.queue scalar {
    engine.load_table 3 "exp" of 5
    engine.test 4 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// Before it is scheduled, with edges; a loop in two queues, the first of two cores.
// CHECK-LABEL: engine.program @before() target=trn2 program=[0, 2] {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %r = nki.register
// CHECK-NEXT: %a = nki.alloc address=[0, 0] : memref<128x64xbf16, #nki.sbuf>
// CHECK-NEXT: %c = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.psum>
// CHECK-NEXT: engine.queue vector {
// CHECK-NEXT: engine.issue 0 no_reorder=0 do nisa.memset dst=%a, value=0
// CHECK-NEXT: engine.while 0 %r ne %c0 after=[loop 0 in tensor anti dst of 4] {
// CHECK-NEXT: engine.test 1 of loop 0
// CHECK-NEXT: engine.issue 4 after=[previous 3 anti dst] do nisa.memset dst=%a, value=1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: engine.queue tensor {
// CHECK-NEXT: engine.while 0 %r ne %c0 after=[0 true stationary of 3] {
// CHECK-NEXT: engine.stage 2 LOAD_STATIONARY of 3 after=[previous 4 true stationary]
// CHECK-NEXT: engine.issue 3 weights=2 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: nki.return
// CHECK-NEXT: }
engine.program @before() target=trn2 program=[0, 2] {
  %c0 = arith.constant 0 : i32
  %r = nki.register
  %a = nki.alloc address=[0, 0] : memref<128x64xbf16, #nki.sbuf>
  %c = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.psum>
  engine.queue vector {
    engine.issue 0 no_reorder=0 do nisa.memset dst=%a, value=0
    engine.while 0 %r ne %c0 after=[loop 0 in tensor anti dst of 4] {
      engine.test 1 of loop 0
      engine.issue 4 after=[previous 3 anti dst] do nisa.memset dst=%a, value=1
    }
  }
  engine.queue tensor {
    engine.while 0 %r ne %c0 after=[0 true stationary of 3] {
      engine.stage 2 LOAD_STATIONARY of 3 after=[previous 4 true stationary]
      engine.issue 3 weights=2 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
    }
  }
  nki.return
}
