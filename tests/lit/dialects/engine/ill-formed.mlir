// RUN: nkijit-opt --split-input-file --parsing-diagnostics --verify-diagnostics %s | filecheck %s

// Lowered programs that can be written down but that no core runs.

// A queue that there is not.
// CHECK: unknown Queue 'fast'; known: tensor, vector, scalar, gpsimd, sync, dma_load, dma_store, dma_copy, dma_scalar, dma_gpsimd
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
  engine.queue fast {
    engine.load_table 3 "exp" of 5
    engine.test 4 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// A queue twice.
// CHECK: there are two queues sync
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
  engine.queue sync {
    engine.load_table 3 "exp" of 5
    engine.test 4 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// A number twice, and a number that is left out.
// CHECK: there are two instructions 3
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
    engine.test 3 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// The numbers begin at 0.
// CHECK: there is no instruction 0; numbers begin at 0
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 9 signal=1 do nisa.register_move dst=%r, src=%c4
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

// -----

// A DMA that nothing starts.
// CHECK: 2 in dma_load is a DMA that nothing starts
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
    engine.issue 1 do nisa.register_move dst=%r, src=%c4
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

// -----

// A trigger of what is no DMA.
// CHECK: 1 in sync starts 5, which is no DMA
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
    engine.trigger 1 of 5
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

// -----

// A DMA in the queue of an engine.
// CHECK: 1 in sync starts 2, which is no DMA
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
    engine.trigger 1 of 2
  }
  engine.queue vector {
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

// -----

// An instruction in the queue of another engine.
// CHECK: 5 in gpsimd is nisa.activation, which runs on the scalar engine
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
  engine.queue gpsimd {
    engine.load_table 3 "exp" of 5
    engine.test 4 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// A wait for a count that is not reached.
// CHECK: loop 0 in scalar waits for dma_load>=2, which does not count to that there
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
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=2 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// A wait for the own queue.
// CHECK: loop 0 in scalar waits for its own queue
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
    engine.loop 0 %i = %c0 to %r step %c4 wait=[scalar>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// Signals that do not count up.
// CHECK: 0 in sync signals 2, its queue counts to 1 there
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=2 do nisa.register_move dst=%r, src=%c4
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

// -----

// A wait for a previous iteration outside of loops.
// CHECK: loop 0 in scalar waits for a previous iteration and is in no loop
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
    engine.loop 0 %i = %c0 to %r step %c4 wait=[previous dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// A reason that the instruction does not have.
// CHECK: 4 in scalar waits because of height, which is no operand
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
    engine.test 4 of loop 0 wait=[sync>=1 true height]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// Edges of a scheduled program.
// CHECK: 1 in sync has edges, and the program is scheduled
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 signal=1 do nisa.register_move dst=%r, src=%c4
    engine.trigger 1 of 2 after=[5]
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

// -----

// Waits of one that is not.
// CHECK: 0 in sync has waits or signals, and the program is not scheduled
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
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

// -----

// A test of a loop that is not in its queue.
// CHECK: 4 in scalar is about loop 1, which is not in its queue
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
    engine.test 4 of loop 1 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// The load of a table for no instruction.
// CHECK: 3 in scalar belongs to 4, which issues no instruction
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
    engine.load_table 3 "exp" of 4
    engine.test 4 of loop 0 wait=[sync>=1 true upper]
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// Instructions that wait for each other.
// CHECK: these wait for each other: 0 in sync, 1 in sync, 2 in dma_load, 3 in scalar, 4 in scalar, loop 0 in scalar
engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %r = nki.register
  %t = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  engine.queue sync {
    engine.issue 0 wait=[scalar>=1] signal=1 do nisa.register_move dst=%r, src=%c4
    engine.trigger 1 of 2
  }
  engine.queue dma_load {
    engine.issue 2 signal=1 do nisa.dma_copy dst=%t, src=%x
  }
  engine.queue scalar {
    engine.load_table 3 "exp" of 5 wait=[sync>=1]
    engine.test 4 of loop 0 signal=1
    engine.loop 0 %i = %c0 to %r step %c4 wait=[dma_load>=1 true data of 5] {
      engine.issue 5 do nisa.activation dst=%t, op=exp, data=%t
    }
  }
  nki.return
}

// -----

// An edge from what does not exist.
// CHECK: loop 0 in tensor waits for 7, which does not exist
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
    engine.while 0 %r ne %c0 after=[7 true stationary of 3] {
      engine.stage 2 LOAD_STATIONARY of 3 after=[previous 4 true stationary]
      engine.issue 3 weights=2 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
    }
  }
  nki.return
}

// -----

// An edge from another loop.
// CHECK: 4 in vector waits for loop 0 in tensor in another loop
engine.program @before() target=trn2 program=[0, 2] {
  %c0 = arith.constant 0 : i32
  %r = nki.register
  %a = nki.alloc address=[0, 0] : memref<128x64xbf16, #nki.sbuf>
  %c = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.psum>
  engine.queue vector {
    engine.issue 0 no_reorder=0 do nisa.memset dst=%a, value=0
    engine.while 0 %r ne %c0 after=[loop 0 in tensor anti dst of 4] {
      engine.test 1 of loop 0
      engine.issue 4 after=[loop 0 in tensor] do nisa.memset dst=%a, value=1
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

// -----

// A stage that the instruction does not have.
// CHECK: 2 in tensor is READ_ACCUMULATORS of nisa.nc_matmul, which has LOAD_STATIONARY, MULTIPLY_MOVING
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
      engine.stage 2 READ_ACCUMULATORS of 3 after=[previous 4 true stationary]
      engine.issue 3 weights=2 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
    }
  }
  nki.return
}

// -----

// Weights that nothing has loaded.
// CHECK: 3 in tensor uses the weights of 4, which loads none
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
      engine.issue 3 weights=4 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
    }
  }
  nki.return
}

// -----

// A loop that is another one elsewhere.
// CHECK: loop 0 is not the same in all queues
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
    engine.while 0 %c0 ne %r after=[0 true stationary of 3] {
      engine.stage 2 LOAD_STATIONARY of 3 after=[previous 4 true stationary]
      engine.issue 3 weights=2 do nisa.nc_matmul dst=%c, stationary=%a, moving=%a
    }
  }
  nki.return
}

// -----

// A declaration among queues.
// CHECK: nisa.memset does not stand outside of queues
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
  nisa.memset dst=%a, value=1
  nki.return
}

// -----

// Nothing is issued.
// CHECK: expected one instruction to issue, got nki.register
engine.program @before() target=trn2 program=[0, 2] {
  %c0 = arith.constant 0 : i32
  %r = nki.register
  %a = nki.alloc address=[0, 0] : memref<128x64xbf16, #nki.sbuf>
  %c = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.psum>
  engine.queue vector {
    engine.issue 0 do nki.register
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
