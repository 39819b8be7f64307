builtin.module {
  nki.kernel @matmul(%a: memref<256x256xbf16, #nki.private_hbm>, %b: memref<256x1024xbf16, #nki.private_hbm>) target=trn3 {
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %b_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %b_1 = nki.view %b offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%b_tile, src=%b_1
    %b_tile_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %b_2 = nki.view %b offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%b_tile_1, src=%b_2
    %a_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %a_1 = nki.view %a offset=0 pattern=[[256, 128], [1, 256]]
    nisa.dma_copy dst=%a_tile, src=%a_1
    %transposed = nki.alloc : memref<128x128xbf16, #nki.psum>
    %a_tile_1 = nki.view %a_tile offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%transposed, data=%a_tile_1
    %block = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%block, src=%transposed
    %transposed_1 = nki.alloc : memref<128x128xbf16, #nki.psum>
    %a_tile_2 = nki.view %a_tile offset=128 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%transposed_1, data=%a_tile_2
    %block_1 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%block_1, src=%transposed_1
    %product = nki.alloc : memref<128x512xf32, #nki.psum>
    %b_tile_2 = nki.view %b_tile offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.nc_matmul dst=%product, stationary=%block, moving=%b_tile_2, accumulate=false
    %b_tile_3 = nki.view %b_tile_1 offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.nc_matmul dst=%product, stationary=%block_1, moving=%b_tile_3, accumulate=true
    %result = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%result, src=%product
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_1, src=%result
    %product_1 = nki.alloc : memref<128x512xf32, #nki.psum>
    %b_tile_4 = nki.view %b_tile offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.nc_matmul dst=%product_1, stationary=%block, moving=%b_tile_4, accumulate=false
    %b_tile_5 = nki.view %b_tile_1 offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.nc_matmul dst=%product_1, stationary=%block_1, moving=%b_tile_5, accumulate=true
    %result_1 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%result_1, src=%product_1
    %out_2 = nki.view %out offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_2, src=%result_1
    %a_tile_3 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %a_2 = nki.view %a offset=32768 pattern=[[256, 128], [1, 256]]
    nisa.dma_copy dst=%a_tile_3, src=%a_2
    %transposed_2 = nki.alloc : memref<128x128xbf16, #nki.psum>
    %a_tile_4 = nki.view %a_tile_3 offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%transposed_2, data=%a_tile_4
    %block_2 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%block_2, src=%transposed_2
    %transposed_3 = nki.alloc : memref<128x128xbf16, #nki.psum>
    %a_tile_5 = nki.view %a_tile_3 offset=128 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%transposed_3, data=%a_tile_5
    %block_3 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%block_3, src=%transposed_3
    %product_2 = nki.alloc : memref<128x512xf32, #nki.psum>
    nisa.nc_matmul dst=%product_2, stationary=%block_2, moving=%b_tile_2, accumulate=false
    nisa.nc_matmul dst=%product_2, stationary=%block_3, moving=%b_tile_3, accumulate=true
    %result_2 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%result_2, src=%product_2
    %out_3 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_3, src=%result_2
    %product_3 = nki.alloc : memref<128x512xf32, #nki.psum>
    nisa.nc_matmul dst=%product_3, stationary=%block_2, moving=%b_tile_4, accumulate=false
    nisa.nc_matmul dst=%product_3, stationary=%block_3, moving=%b_tile_5, accumulate=true
    %result_3 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    nisa.tensor_copy dst=%result_3, src=%product_3
    %out_4 = nki.view %out offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_4, src=%result_3
    nki.return %out
  }
}
