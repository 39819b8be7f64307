builtin.module {
  nki.kernel @mxfp8_matmul(%a: memref<1024x160xbf16, #nki.private_hbm>, %b: memref<1024x640xbf16, #nki.private_hbm>) target=trn3 {
    %out = nki.alloc : memref<160x640xbf16, #nki.shared_hbm>
    %loaded = nki.alloc : memref<128x4x160xbf16, #nki.sbuf>
    %a_1 = nki.view %a offset=0 pattern=[[640, 128], [160, 4], [1, 160]]
    nisa.dma_copy dst=%loaded, src=%a_1
    %packed = nki.alloc : memref<128x160x4xbf16, #nki.sbuf>
    %loaded_1 = nki.view %loaded offset=0 pattern=[[640, 128], [1, 160], [160, 4]]
    nisa.tensor_copy dst=%packed, src=%loaded_1, engine=scalar
    %scales = nki.alloc : memref<128x160xf8E8M0FNU, #nki.sbuf>
    %data = nki.alloc : memref<128x160x!nki.f8E4M3FNx4, #nki.sbuf>
    %packed_1 = nki.view %packed offset=0 pattern=[[640, 128], [1, 640]]
    nisa.quantize_mx dst=%data, src=%packed_1, dst_scale=%scales
    %loaded_2 = nki.alloc : memref<128x4x160xbf16, #nki.sbuf>
    %a_2 = nki.view %a offset=81920 pattern=[[640, 128], [160, 4], [1, 160]]
    nisa.dma_copy dst=%loaded_2, src=%a_2
    %packed_2 = nki.alloc : memref<128x160x4xbf16, #nki.sbuf>
    %loaded_3 = nki.view %loaded_2 offset=0 pattern=[[640, 128], [1, 160], [160, 4]]
    nisa.tensor_copy dst=%packed_2, src=%loaded_3, engine=scalar
    %data_1 = nki.alloc : memref<128x160x!nki.f8E4M3FNx4, #nki.sbuf>
    %packed_3 = nki.view %packed_2 offset=0 pattern=[[640, 128], [1, 640]]
    %scales_1 = nki.view %scales offset=640 pattern=[[160, 124], [1, 160]]
    nisa.quantize_mx dst=%data_1, src=%packed_3, dst_scale=%scales_1
    %loaded_4 = nki.alloc : memref<128x4x640xbf16, #nki.sbuf>
    %b_1 = nki.view %b offset=0 pattern=[[2560, 128], [640, 4], [1, 640]]
    nisa.dma_copy dst=%loaded_4, src=%b_1
    %packed_4 = nki.alloc : memref<128x640x4xbf16, #nki.sbuf>
    %loaded_5 = nki.view %loaded_4 offset=0 pattern=[[2560, 128], [1, 640], [640, 4]]
    nisa.tensor_copy dst=%packed_4, src=%loaded_5, engine=scalar
    %scales_2 = nki.alloc : memref<128x640xf8E8M0FNU, #nki.sbuf>
    %data_2 = nki.alloc : memref<128x640x!nki.f8E4M3FNx4, #nki.sbuf>
    %packed_5 = nki.view %packed_4 offset=0 pattern=[[2560, 128], [1, 2560]]
    nisa.quantize_mx dst=%data_2, src=%packed_5, dst_scale=%scales_2
    %loaded_6 = nki.alloc : memref<128x4x640xbf16, #nki.sbuf>
    %b_2 = nki.view %b offset=327680 pattern=[[2560, 128], [640, 4], [1, 640]]
    nisa.dma_copy dst=%loaded_6, src=%b_2
    %packed_6 = nki.alloc : memref<128x640x4xbf16, #nki.sbuf>
    %loaded_7 = nki.view %loaded_6 offset=0 pattern=[[2560, 128], [1, 640], [640, 4]]
    nisa.tensor_copy dst=%packed_6, src=%loaded_7, engine=scalar
    %data_3 = nki.alloc : memref<128x640x!nki.f8E4M3FNx4, #nki.sbuf>
    %packed_7 = nki.view %packed_6 offset=0 pattern=[[2560, 128], [1, 2560]]
    %scales_3 = nki.view %scales_2 offset=2560 pattern=[[640, 124], [1, 640]]
    nisa.quantize_mx dst=%data_3, src=%packed_7, dst_scale=%scales_3
    %result = nki.alloc : memref<128x640xbf16, #nki.sbuf>
    %product = nki.alloc : memref<128x512xf32, #nki.psum>
    %data_4 = nki.view %data offset=0 pattern=[[160, 128], [1, 128]]
    %data_5 = nki.view %data_2 offset=0 pattern=[[640, 128], [1, 512]]
    %scales_4 = nki.view %scales offset=0 pattern=[[160, 128], [1, 128]]
    %scales_5 = nki.view %scales_2 offset=0 pattern=[[640, 128], [1, 512]]
    nisa.nc_matmul_mx dst=%product, stationary=%data_4, moving=%data_5, stationary_scale=%scales_4, moving_scale=%scales_5, accumulate=false
    %data_6 = nki.view %data_1 offset=0 pattern=[[160, 128], [1, 128]]
    %data_7 = nki.view %data_3 offset=0 pattern=[[640, 128], [1, 512]]
    %scales_6 = nki.view %scales offset=640 pattern=[[160, 124], [1, 128]]
    %scales_7 = nki.view %scales_2 offset=2560 pattern=[[640, 124], [1, 512]]
    nisa.nc_matmul_mx dst=%product, stationary=%data_6, moving=%data_7, stationary_scale=%scales_6, moving_scale=%scales_7, accumulate=true
    %result_1 = nki.view %result offset=0 pattern=[[640, 128], [1, 512]]
    nisa.tensor_copy dst=%result_1, src=%product
    %product_1 = nki.alloc : memref<128x128xf32, #nki.psum>
    %data_8 = nki.view %data_2 offset=512 pattern=[[640, 128], [1, 128]]
    %scales_8 = nki.view %scales_2 offset=512 pattern=[[640, 128], [1, 128]]
    nisa.nc_matmul_mx dst=%product_1, stationary=%data_4, moving=%data_8, stationary_scale=%scales_4, moving_scale=%scales_8, accumulate=false
    %data_9 = nki.view %data_3 offset=512 pattern=[[640, 128], [1, 128]]
    %scales_9 = nki.view %scales_2 offset=3072 pattern=[[640, 124], [1, 128]]
    nisa.nc_matmul_mx dst=%product_1, stationary=%data_6, moving=%data_9, stationary_scale=%scales_6, moving_scale=%scales_9, accumulate=true
    %result_2 = nki.view %result offset=512 pattern=[[640, 128], [1, 128]]
    nisa.tensor_copy dst=%result_2, src=%product_1
    %out_1 = nki.view %out offset=0 pattern=[[640, 128], [1, 640]]
    nisa.dma_copy dst=%out_1, src=%result
    %result_3 = nki.alloc : memref<32x640xbf16, #nki.sbuf>
    %product_2 = nki.alloc : memref<32x512xf32, #nki.psum>
    %data_10 = nki.view %data offset=128 pattern=[[160, 128], [1, 32]]
    %scales_10 = nki.view %scales offset=128 pattern=[[160, 128], [1, 32]]
    nisa.nc_matmul_mx dst=%product_2, stationary=%data_10, moving=%data_5, stationary_scale=%scales_10, moving_scale=%scales_5, accumulate=false
    %data_11 = nki.view %data_1 offset=128 pattern=[[160, 128], [1, 32]]
    %scales_11 = nki.view %scales offset=768 pattern=[[160, 124], [1, 32]]
    nisa.nc_matmul_mx dst=%product_2, stationary=%data_11, moving=%data_7, stationary_scale=%scales_11, moving_scale=%scales_7, accumulate=true
    %result_4 = nki.view %result_3 offset=0 pattern=[[640, 32], [1, 512]]
    nisa.tensor_copy dst=%result_4, src=%product_2
    %product_3 = nki.alloc : memref<32x128xf32, #nki.psum>
    nisa.nc_matmul_mx dst=%product_3, stationary=%data_10, moving=%data_8, stationary_scale=%scales_10, moving_scale=%scales_8, accumulate=false
    nisa.nc_matmul_mx dst=%product_3, stationary=%data_11, moving=%data_9, stationary_scale=%scales_11, moving_scale=%scales_9, accumulate=true
    %result_5 = nki.view %result_3 offset=512 pattern=[[640, 32], [1, 128]]
    nisa.tensor_copy dst=%result_5, src=%product_3
    %out_2 = nki.view %out offset=81920 pattern=[[640, 32], [1, 640]]
    nisa.dma_copy dst=%out_2, src=%result_3
    nki.return %out
  }
}
