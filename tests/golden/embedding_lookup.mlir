builtin.module {
  nki.kernel @embedding_lookup(%table: memref<640x512xbf16, #nki.private_hbm>, %ids: memref<256xi32, #nki.private_hbm>) target=trn3 {
    %out = nki.alloc : memref<256x512xbf16, #nki.shared_hbm>
    %index = nki.alloc : memref<128x1xi32, #nki.sbuf>
    %ids_1 = nki.view %ids offset=0 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%index, src=%ids_1
    %rows = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.memset dst=%rows, value=0
    %table_1 = nki.view %table offset=0 pattern=[[512, 128], [1, 512]] vector=%index scale=512 bound=640
    nisa.dma_copy dst=%rows, src=%table_1, oob_mode=skip
    %out_1 = nki.view %out offset=0 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%out_1, src=%rows
    %index_1 = nki.alloc : memref<128x1xi32, #nki.sbuf>
    %ids_2 = nki.view %ids offset=128 pattern=[[1, 128], [1, 1]]
    nisa.dma_copy dst=%index_1, src=%ids_2
    %rows_1 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.memset dst=%rows_1, value=0
    %table_2 = nki.view %table offset=0 pattern=[[512, 128], [1, 512]] vector=%index_1 scale=512 bound=640
    nisa.dma_copy dst=%rows_1, src=%table_2, oob_mode=skip
    %out_2 = nki.view %out offset=65536 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%out_2, src=%rows_1
    nki.return %out
  }
}
