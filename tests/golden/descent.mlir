builtin.module {
  nki.kernel @descent(%weights: memref<256x1024xf32, #nki.private_hbm>, %gradient: memref<256x1024xbf16, #nki.private_hbm>) target=trn3 {
    %c0.01 = arith.constant 1.000000e-02 : f32
    %out = nki.alloc : memref<256x1024xf32, #nki.shared_hbm>
    %weights_tile = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %gradient_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %weights_1 = nki.view %weights offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%weights_tile, src=%weights_1
    %gradient_1 = nki.view %gradient offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%gradient_tile, src=%gradient_1
    nisa.scalar_tensor_tensor dst=%weights_tile, data=%gradient_tile, op0=multiply, operand0=%c0.01, op1=subtract, operand1=%weights_tile, reverse1=true
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_1, src=%weights_tile
    %weights_tile_1 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %gradient_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %weights_2 = nki.view %weights offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%weights_tile_1, src=%weights_2
    %gradient_2 = nki.view %gradient offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%gradient_tile_1, src=%gradient_2
    nisa.scalar_tensor_tensor dst=%weights_tile_1, data=%gradient_tile_1, op0=multiply, operand0=%c0.01, op1=subtract, operand1=%weights_tile_1, reverse1=true
    %out_2 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_2, src=%weights_tile_1
    nki.return %out
  }
}
