builtin.module {
  nki.kernel @embedding_update(%table: memref<640x512xf32, #nki.private_hbm>, %ids: memref<256xi32, #nki.private_hbm>, %gradient: memref<256x512xbf16, #nki.private_hbm>) target=trn3 {
    %c-0.01 = arith.constant -1.000000e-02 : f32
    %index = nki.alloc : memref<128x1xi32, #nki.sbuf>
    %ids_1 = nki.view %ids offset=0 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%index, src=%ids_1
    %rows = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %table_1 = nki.view %table offset=0 pattern=[[512, 128], [1, 512]] vector=%index scale=512 bound=640
    nisa.dma_copy dst=%rows, src=%table_1
    %gradient_tile = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %gradient_1 = nki.view %gradient offset=0 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%gradient_tile, src=%gradient_1
    nisa.scalar_tensor_tensor dst=%rows, data=%gradient_tile, op0=multiply, operand0=%c-0.01, op1=add, operand1=%rows
    nisa.dma_copy dst=%table_1, src=%rows
    %index_1 = nki.alloc : memref<128x1xi32, #nki.sbuf>
    %ids_2 = nki.view %ids offset=128 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%index_1, src=%ids_2
    %rows_1 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %table_2 = nki.view %table offset=0 pattern=[[512, 128], [1, 512]] vector=%index_1 scale=512 bound=640
    nisa.dma_copy dst=%rows_1, src=%table_2
    %gradient_tile_1 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %gradient_2 = nki.view %gradient offset=65536 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%gradient_tile_1, src=%gradient_2
    nisa.scalar_tensor_tensor dst=%rows_1, data=%gradient_tile_1, op0=multiply, operand0=%c-0.01, op1=add, operand1=%rows_1
    nisa.dma_copy dst=%table_2, src=%rows_1
    nki.return %table
  }
}
