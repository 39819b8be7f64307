builtin.module {
  nki.kernel @rmsnorm(%x: memref<256x1024xbf16, #nki.private_hbm>, %gamma: memref<1024xbf16, #nki.private_hbm>) target=trn3 {
    %c1.0e-06 = arith.constant 1.000000e-06 : f32
    %c0.0009765625 = arith.constant 0.0009765625 : f32
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %gamma_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %gamma_1 = nki.view %gamma offset=0 pattern=[[0, 128], [1, 1024]]
    nisa.dma_copy dst=%gamma_tile, src=%gamma_1
    %x_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %squares = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%squares, op=square, data=%x_tile, reduce_op=add, reduce_res=%total
    %inverse_rms = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation dst=%inverse_rms, op=rsqrt, data=%total, bias=%c1.0e-06, scale=%c0.0009765625
    %result = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result, data=%x_tile, op0=multiply, operand0=%inverse_rms, op1=multiply, operand1=%gamma_tile
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_1, src=%result
    %x_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %squares_1 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%squares_1, op=square, data=%x_tile_1, reduce_op=add, reduce_res=%total_1
    %inverse_rms_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation dst=%inverse_rms_1, op=rsqrt, data=%total_1, bias=%c1.0e-06, scale=%c0.0009765625
    %result_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result_1, data=%x_tile_1, op0=multiply, operand0=%inverse_rms_1, op1=multiply, operand1=%gamma_tile
    %out_2 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
}
