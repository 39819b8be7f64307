builtin.module {
  nki.kernel @gated_residual(%x: memref<256x1024xbf16, #nki.private_hbm>, %residual: memref<256x1024xbf16, #nki.private_hbm>, %gate: memref<256x1xbf16, #nki.private_hbm>) target=trn3 {
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %x_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %residual_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %gate_tile = nki.alloc : memref<128x1xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %residual_1 = nki.view %residual offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%residual_tile, src=%residual_1
    %gate_1 = nki.view %gate offset=0 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%gate_tile, src=%gate_1
    %result = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result, data=%x_tile, op0=multiply, operand0=%gate_tile, op1=add, operand1=%residual_tile
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_1, src=%result
    %x_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %residual_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %gate_tile_1 = nki.alloc : memref<128x1xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %residual_2 = nki.view %residual offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%residual_tile_1, src=%residual_2
    %gate_2 = nki.view %gate offset=128 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%gate_tile_1, src=%gate_2
    %result_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result_1, data=%x_tile_1, op0=multiply, operand0=%gate_tile_1, op1=add, operand1=%residual_tile_1
    %out_2 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
}
