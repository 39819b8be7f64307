builtin.module {
  nki.kernel @sharded_rmsnorm_core0(%x: memref<256x512xbf16, #nki.shared_hbm>, %gamma: memref<512xbf16, #nki.shared_hbm>) target=trn3 program=[0, 2] {
    %c1.0e-06 = arith.constant 1.000000e-06 : f32
    %c0.001953125 = arith.constant 0.001953125 : f32
    %out = nki.alloc : memref<256x512xbf16, #nki.shared_hbm>
    %gamma_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %gamma_1 = nki.view %gamma offset=0 pattern=[[0, 128], [1, 256]]
    nisa.dma_copy dst=%gamma_tile, src=%gamma_1
    %totals = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %x_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %squares = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %totals_1 = nki.view %totals offset=0 pattern=[[2, 128], [1, 1]]
    nisa.activation_reduce dst=%squares, op=square, data=%x_tile, reduce_op=add, reduce_res=%totals_1
    %x_tile_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=65536 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %squares_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %totals_2 = nki.view %totals offset=1 pattern=[[2, 128], [1, 1]]
    nisa.activation_reduce dst=%squares_1, op=square, data=%x_tile_1, reduce_op=add, reduce_res=%totals_2
    %others = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.sendrecv src=%totals, dst=%others, send_to_rank=1, recv_from_rank=1, pipe_id=0
    nisa.tensor_tensor dst=%totals, data1=%totals, data2=%others, op=add
    %inverse_rms = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.activation dst=%inverse_rms, op=rsqrt, data=%totals, bias=%c1.0e-06, scale=%c0.001953125
    %result = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %inverse_rms_1 = nki.view %inverse_rms offset=0 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result, data=%x_tile, op0=multiply, operand0=%inverse_rms_1, op1=multiply, operand1=%gamma_tile
    %out_1 = nki.view %out offset=0 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_1, src=%result
    %result_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %inverse_rms_2 = nki.view %inverse_rms offset=1 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result_1, data=%x_tile_1, op0=multiply, operand0=%inverse_rms_2, op1=multiply, operand1=%gamma_tile
    %out_2 = nki.view %out offset=65536 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
  nki.kernel @sharded_rmsnorm_core1(%x: memref<256x512xbf16, #nki.shared_hbm>, %gamma: memref<512xbf16, #nki.shared_hbm>) target=trn3 program=[1, 2] {
    %c1.0e-06 = arith.constant 1.000000e-06 : f32
    %c0.001953125 = arith.constant 0.001953125 : f32
    %out = nki.alloc : memref<256x512xbf16, #nki.shared_hbm>
    %gamma_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %gamma_1 = nki.view %gamma offset=256 pattern=[[0, 128], [1, 256]]
    nisa.dma_copy dst=%gamma_tile, src=%gamma_1
    %totals = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %x_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=256 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %squares = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %totals_1 = nki.view %totals offset=0 pattern=[[2, 128], [1, 1]]
    nisa.activation_reduce dst=%squares, op=square, data=%x_tile, reduce_op=add, reduce_res=%totals_1
    %x_tile_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=65792 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %squares_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %totals_2 = nki.view %totals offset=1 pattern=[[2, 128], [1, 1]]
    nisa.activation_reduce dst=%squares_1, op=square, data=%x_tile_1, reduce_op=add, reduce_res=%totals_2
    %others = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.sendrecv src=%totals, dst=%others, send_to_rank=0, recv_from_rank=0, pipe_id=0
    nisa.tensor_tensor dst=%totals, data1=%totals, data2=%others, op=add
    %inverse_rms = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.activation dst=%inverse_rms, op=rsqrt, data=%totals, bias=%c1.0e-06, scale=%c0.001953125
    %result = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %inverse_rms_1 = nki.view %inverse_rms offset=0 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result, data=%x_tile, op0=multiply, operand0=%inverse_rms_1, op1=multiply, operand1=%gamma_tile
    %out_1 = nki.view %out offset=256 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_1, src=%result
    %result_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %inverse_rms_2 = nki.view %inverse_rms offset=1 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result_1, data=%x_tile_1, op0=multiply, operand0=%inverse_rms_2, op1=multiply, operand1=%gamma_tile
    %out_2 = nki.view %out offset=65792 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
}
