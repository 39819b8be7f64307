builtin.module {
  nki.kernel @transpose_blocks(%x: memref<256x384xf32, #nki.private_hbm>) target=trn2 classic {
    %out = nki.alloc : memref<384x256xf32, #nki.shared_hbm>
    %block = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block, src=%x_1
    %psum = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum, data=%block, engine=tensor
    %psum_sbuf = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf, src=%psum
    %out_1 = nki.view %out offset=0 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_1, src=%psum_sbuf
    %block_1 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_2 = nki.view %x offset=128 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block_1, src=%x_2
    %psum_1 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum_1, data=%block_1, engine=tensor
    %psum_sbuf_1 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf_1, src=%psum_1
    %out_2 = nki.view %out offset=32768 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_2, src=%psum_sbuf_1
    %block_2 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_3 = nki.view %x offset=256 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block_2, src=%x_3
    %psum_2 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum_2, data=%block_2, engine=tensor
    %psum_sbuf_2 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf_2, src=%psum_2
    %out_3 = nki.view %out offset=65536 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_3, src=%psum_sbuf_2
    %block_3 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_4 = nki.view %x offset=49152 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block_3, src=%x_4
    %psum_3 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum_3, data=%block_3, engine=tensor
    %psum_sbuf_3 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf_3, src=%psum_3
    %out_4 = nki.view %out offset=128 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_4, src=%psum_sbuf_3
    %block_4 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_5 = nki.view %x offset=49280 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block_4, src=%x_5
    %psum_4 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum_4, data=%block_4, engine=tensor
    %psum_sbuf_4 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf_4, src=%psum_4
    %out_5 = nki.view %out offset=32896 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_5, src=%psum_sbuf_4
    %block_5 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %x_6 = nki.view %x offset=49408 pattern=[[384, 128], [1, 128]]
    nisa.dma_copy dst=%block_5, src=%x_6
    %psum_5 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_transpose dst=%psum_5, data=%block_5, engine=tensor
    %psum_sbuf_5 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%psum_sbuf_5, src=%psum_5
    %out_6 = nki.view %out offset=65664 pattern=[[256, 128], [1, 128]]
    nisa.dma_copy dst=%out_6, src=%psum_sbuf_5
    nki.return %out
  }
}
