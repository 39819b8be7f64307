builtin.module {
  nki.kernel @layernorm(%x: memref<256x1024xbf16, #nki.private_hbm>, %gamma: memref<1024xbf16, #nki.private_hbm>, %beta: memref<1024xbf16, #nki.private_hbm>) target=trn3 {
    %c0.0009765625 = arith.constant 0.0009765625 : f32
    %c1.0e-05 = arith.constant 1.000000e-05 : f32
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %gamma_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %beta_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %gamma_1 = nki.view %gamma offset=0 pattern=[[0, 128], [1, 1024]]
    nisa.dma_copy dst=%gamma_tile, src=%gamma_1
    %beta_1 = nki.view %beta offset=0 pattern=[[0, 128], [1, 1024]]
    nisa.dma_copy dst=%beta_tile, src=%beta_1
    %x_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %mean = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %centred = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%total, op=add, data=%x_tile, axis=[1]
    nisa.tensor_scalar dst=%mean, data=%total, op0=multiply, operand0=%c0.0009765625
    nisa.tensor_scalar dst=%centred, data=%x_tile, op0=subtract, operand0=%mean
    %squares = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %deviation = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation dst=%squares, op=square, data=%centred
    nisa.tensor_reduce dst=%total, op=add, data=%squares, axis=[1]
    nisa.activation dst=%deviation, op=rsqrt, data=%total, bias=%c1.0e-05, scale=%c0.0009765625
    %scaled = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %result = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%scaled, data=%centred, op0=multiply, operand0=%deviation, op1=multiply, operand1=%gamma_tile
    nisa.tensor_tensor dst=%result, data1=%scaled, data2=%beta_tile, op=add
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_1, src=%result
    %x_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %mean_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %centred_1 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%total_1, op=add, data=%x_tile_1, axis=[1]
    nisa.tensor_scalar dst=%mean_1, data=%total_1, op0=multiply, operand0=%c0.0009765625
    nisa.tensor_scalar dst=%centred_1, data=%x_tile_1, op0=subtract, operand0=%mean_1
    %squares_1 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %deviation_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation dst=%squares_1, op=square, data=%centred_1
    nisa.tensor_reduce dst=%total_1, op=add, data=%squares_1, axis=[1]
    nisa.activation dst=%deviation_1, op=rsqrt, data=%total_1, bias=%c1.0e-05, scale=%c0.0009765625
    %scaled_1 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %result_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%scaled_1, data=%centred_1, op0=multiply, operand0=%deviation_1, op1=multiply, operand1=%gamma_tile
    nisa.tensor_tensor dst=%result_1, data1=%scaled_1, data2=%beta_tile, op=add
    %out_2 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
}
