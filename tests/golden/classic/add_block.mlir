builtin.module {
  nki.kernel @add_block(%a: memref<512x1024xf32, #nki.private_hbm>, %b: memref<512x1024xf32, #nki.private_hbm>) target=trn2 classic {
    %out = nki.alloc : memref<512x1024xf32, #nki.shared_hbm>
    %sbuf = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_1 = nki.view %a offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf, src=%a_1
    %sbuf_1 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_1 = nki.view %b offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_1, src=%b_1
    %sbuf_2 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_2, data1=%sbuf, data2=%sbuf_1, op=add
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_1, src=%sbuf_2
    %sbuf_3 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_2 = nki.view %a offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_3, src=%a_2
    %sbuf_4 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_2 = nki.view %b offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_4, src=%b_2
    %sbuf_5 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_5, data1=%sbuf_3, data2=%sbuf_4, op=add
    %out_2 = nki.view %out offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_2, src=%sbuf_5
    %sbuf_6 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_3 = nki.view %a offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_6, src=%a_3
    %sbuf_7 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_3 = nki.view %b offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_7, src=%b_3
    %sbuf_8 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_8, data1=%sbuf_6, data2=%sbuf_7, op=add
    %out_3 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_3, src=%sbuf_8
    %sbuf_9 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_4 = nki.view %a offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_9, src=%a_4
    %sbuf_10 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_4 = nki.view %b offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_10, src=%b_4
    %sbuf_11 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_11, data1=%sbuf_9, data2=%sbuf_10, op=add
    %out_4 = nki.view %out offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_4, src=%sbuf_11
    %sbuf_12 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_5 = nki.view %a offset=262144 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_12, src=%a_5
    %sbuf_13 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_5 = nki.view %b offset=262144 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_13, src=%b_5
    %sbuf_14 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_14, data1=%sbuf_12, data2=%sbuf_13, op=add
    %out_5 = nki.view %out offset=262144 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_5, src=%sbuf_14
    %sbuf_15 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_6 = nki.view %a offset=262656 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_15, src=%a_6
    %sbuf_16 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_6 = nki.view %b offset=262656 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_16, src=%b_6
    %sbuf_17 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_17, data1=%sbuf_15, data2=%sbuf_16, op=add
    %out_6 = nki.view %out offset=262656 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_6, src=%sbuf_17
    %sbuf_18 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_7 = nki.view %a offset=393216 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_18, src=%a_7
    %sbuf_19 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_7 = nki.view %b offset=393216 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_19, src=%b_7
    %sbuf_20 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_20, data1=%sbuf_18, data2=%sbuf_19, op=add
    %out_7 = nki.view %out offset=393216 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_7, src=%sbuf_20
    %sbuf_21 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %a_8 = nki.view %a offset=393728 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_21, src=%a_8
    %sbuf_22 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %b_8 = nki.view %b offset=393728 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%sbuf_22, src=%b_8
    %sbuf_23 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%sbuf_23, data1=%sbuf_21, data2=%sbuf_22, op=add
    %out_8 = nki.view %out offset=393728 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_8, src=%sbuf_23
    nki.return %out
  }
}
