builtin.module {
  nki.kernel @topk_router(%logits: memref<256x128xbf16, #nki.private_hbm>) target=trn3 {
    %indices_out = nki.alloc : memref<256x24xui32, #nki.shared_hbm>
    %weights_out = nki.alloc : memref<256x24xf32, #nki.shared_hbm>
    %logits_tile = nki.alloc : memref<128x2x128xbf16, #nki.sbuf>
    %logits_1 = nki.view %logits offset=0 pattern=[[256, 128], [128, 2], [1, 128]]
    nisa.dma_copy dst=%logits_tile, src=%logits_1
    %values = nki.alloc : memref<128x2x24xf32, #nki.sbuf>
    %indices = nki.alloc : memref<128x2x24xui32, #nki.sbuf>
    %values_1 = nki.view %values offset=0 pattern=[[48, 128], [1, 8]]
    %logits_tile_1 = nki.view %logits_tile offset=0 pattern=[[256, 128], [1, 128]]
    nisa.max8 dst=%values_1, src=%logits_tile_1
    %indices_1 = nki.view %indices offset=0 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_1, data=%logits_tile_1, vals=%values_1
    nisa.nc_match_replace8 dst=%logits_tile_1, data=%logits_tile_1, vals=%values_1, imm=0xFF800000
    %values_2 = nki.view %values offset=8 pattern=[[48, 128], [1, 8]]
    nisa.max8 dst=%values_2, src=%logits_tile_1
    %indices_2 = nki.view %indices offset=8 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_2, data=%logits_tile_1, vals=%values_2
    nisa.nc_match_replace8 dst=%logits_tile_1, data=%logits_tile_1, vals=%values_2, imm=0xFF800000
    %values_3 = nki.view %values offset=16 pattern=[[48, 128], [1, 8]]
    nisa.max8 dst=%values_3, src=%logits_tile_1
    %indices_3 = nki.view %indices offset=16 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_3, data=%logits_tile_1, vals=%values_3
    %values_4 = nki.view %values offset=24 pattern=[[48, 128], [1, 8]]
    %logits_tile_2 = nki.view %logits_tile offset=128 pattern=[[256, 128], [1, 128]]
    nisa.max8 dst=%values_4, src=%logits_tile_2
    %indices_4 = nki.view %indices offset=24 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_4, data=%logits_tile_2, vals=%values_4
    nisa.nc_match_replace8 dst=%logits_tile_2, data=%logits_tile_2, vals=%values_4, imm=0xFF800000
    %values_5 = nki.view %values offset=32 pattern=[[48, 128], [1, 8]]
    nisa.max8 dst=%values_5, src=%logits_tile_2
    %indices_5 = nki.view %indices offset=32 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_5, data=%logits_tile_2, vals=%values_5
    nisa.nc_match_replace8 dst=%logits_tile_2, data=%logits_tile_2, vals=%values_5, imm=0xFF800000
    %values_6 = nki.view %values offset=40 pattern=[[48, 128], [1, 8]]
    nisa.max8 dst=%values_6, src=%logits_tile_2
    %indices_6 = nki.view %indices offset=40 pattern=[[48, 128], [1, 8]]
    nisa.nc_find_index8 dst=%indices_6, data=%logits_tile_2, vals=%values_6
    %largest = nki.alloc : memref<128x2x1xf32, #nki.sbuf>
    %values_7 = nki.view %values offset=0 pattern=[[48, 128], [24, 2], [1, 1]]
    nisa.tensor_copy dst=%largest, src=%values_7
    %largest_1 = nki.view %largest offset=0 pattern=[[2, 128], [1, 2], [0, 24]]
    nisa.tensor_tensor dst=%values, data1=%values, data2=%largest_1, op=subtract
    nisa.activation dst=%values, op=exp, data=%values
    %total = nki.alloc : memref<128x2x1xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%total, op=add, data=%values, axis=[2], keepdims=true
    nisa.reciprocal dst=%total, data=%total
    %total_1 = nki.view %total offset=0 pattern=[[2, 128], [1, 2], [0, 24]]
    nisa.tensor_tensor dst=%values, data1=%values, data2=%total_1, op=multiply
    %indices_out_1 = nki.view %indices_out offset=0 pattern=[[48, 128], [24, 2], [1, 24]]
    nisa.dma_copy dst=%indices_out_1, src=%indices
    %weights_out_1 = nki.view %weights_out offset=0 pattern=[[48, 128], [24, 2], [1, 24]]
    nisa.dma_copy dst=%weights_out_1, src=%values
    nki.return (%indices_out, %weights_out)
  }
}
