builtin.module {
  nki.kernel @softmax_trn2(%x: memref<256x1024xbf16, #nki.private_hbm>) target=trn2 {
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %x_tile = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %maxima = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %x_tile_1 = nki.view %x_tile offset=0 pattern=[[1024, 128], [1, 512]]
    %x_1 = nki.view %x offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_1, src=%x_1
    %maxima_1 = nki.view %maxima offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_1, op=maximum, data=%x_tile_1, axis=[1]
    %x_tile_2 = nki.view %x_tile offset=512 pattern=[[1024, 128], [1, 512]]
    %x_2 = nki.view %x offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_2, src=%x_2
    %maxima_2 = nki.view %maxima offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_2, op=maximum, data=%x_tile_2, axis=[1]
    %negative_maximum = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_maximum, op=maximum, data=%maxima, axis=[1], negate=true
    %y = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %y_1 = nki.view %y offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.activation dst=%y_1, op=exp, data=%x_tile_1, bias=%negative_maximum, reduce_op=add, reduce_cmd=reset_reduce
    %y_2 = nki.view %y offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.activation dst=%y_2, op=exp, data=%x_tile_2, bias=%negative_maximum, reduce_op=add, reduce_res=%total, reduce_cmd=reduce
    %inverse = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse, data=%total
    %result = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%result, data=%y, op0=multiply, operand0=%inverse
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_1, src=%result
    %x_tile_3 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    %maxima_3 = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %x_tile_4 = nki.view %x_tile_3 offset=0 pattern=[[1024, 128], [1, 512]]
    %x_3 = nki.view %x offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_4, src=%x_3
    %maxima_4 = nki.view %maxima_3 offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_4, op=maximum, data=%x_tile_4, axis=[1]
    %x_tile_5 = nki.view %x_tile_3 offset=512 pattern=[[1024, 128], [1, 512]]
    %x_4 = nki.view %x offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_5, src=%x_4
    %maxima_5 = nki.view %maxima_3 offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_5, op=maximum, data=%x_tile_5, axis=[1]
    %negative_maximum_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_maximum_1, op=maximum, data=%maxima_3, axis=[1], negate=true
    %y_3 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %y_4 = nki.view %y_3 offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.activation dst=%y_4, op=exp, data=%x_tile_4, bias=%negative_maximum_1, reduce_op=add, reduce_cmd=reset_reduce
    %y_5 = nki.view %y_3 offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.activation dst=%y_5, op=exp, data=%x_tile_5, bias=%negative_maximum_1, reduce_op=add, reduce_res=%total_1, reduce_cmd=reduce
    %inverse_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_1, data=%total_1
    %result_1 = nki.alloc : memref<128x1024xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%result_1, data=%y_3, op0=multiply, operand0=%inverse_1
    %out_2 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 1024]]
    nisa.dma_copy dst=%out_2, src=%result_1
    nki.return %out
  }
}
