builtin.module {
  nki.kernel @softmax(%x: memref<256x1024xbf16, #nki.private_hbm>) target=trn3 {
    %c-3.40282347e38 = arith.constant -3.40282347e+38 : f32
    %out = nki.alloc : memref<256x1024xbf16, #nki.shared_hbm>
    %y = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %maxima = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %x_tile = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %maxima_1 = nki.view %maxima offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_1, op=maximum, data=%x_tile, axis=[1]
    nisa.tensor_scalar dst=%maxima_1, data=%maxima_1, op0=maximum, operand0=%c-3.40282347e38
    %y_1 = nki.view %y offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.exponential dst=%y_1, src=%x_tile, max_value=%maxima_1, reduce_res=%total, reduce_cmd=reset_reduce
    %x_tile_1 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %x_2 = nki.view %x offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %maxima_2 = nki.view %maxima offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_2, op=maximum, data=%x_tile_1, axis=[1]
    nisa.tensor_tensor dst=%maxima_2, data1=%maxima_2, data2=%maxima_1, op=maximum
    %carried = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.exponential dst=%carried, src=%maxima_1, max_value=%maxima_2
    nisa.tensor_tensor dst=%carried, data1=%carried, data2=%total, op=multiply
    %y_2 = nki.view %y offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.exponential dst=%y_2, src=%x_tile_1, max_value=%maxima_2, reduce_res=%total, reduce_cmd=load_reduce, reduce_init=%carried
    %factors = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.exponential dst=%factors, src=%maxima, max_value=%maxima_2
    %inverse = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse, data=%total
    %result = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %factors_1 = nki.view %factors offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_scalar dst=%result, data=%y_1, op0=multiply, operand0=%factors_1, op1=multiply, operand1=%inverse
    %out_1 = nki.view %out offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_1, src=%result
    %result_1 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %factors_2 = nki.view %factors offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_scalar dst=%result_1, data=%y_2, op0=multiply, operand0=%factors_2, op1=multiply, operand1=%inverse
    %out_2 = nki.view %out offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_2, src=%result_1
    %y_3 = nki.alloc : memref<128x1024xf32, #nki.sbuf>
    %maxima_3 = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %x_tile_2 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %x_3 = nki.view %x offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_2, src=%x_3
    %maxima_4 = nki.view %maxima_3 offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_4, op=maximum, data=%x_tile_2, axis=[1]
    nisa.tensor_scalar dst=%maxima_4, data=%maxima_4, op0=maximum, operand0=%c-3.40282347e38
    %y_4 = nki.view %y_3 offset=0 pattern=[[1024, 128], [1, 512]]
    nisa.exponential dst=%y_4, src=%x_tile_2, max_value=%maxima_4, reduce_res=%total_1, reduce_cmd=reset_reduce
    %x_tile_3 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %x_4 = nki.view %x offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_3, src=%x_4
    %maxima_5 = nki.view %maxima_3 offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_5, op=maximum, data=%x_tile_3, axis=[1]
    nisa.tensor_tensor dst=%maxima_5, data1=%maxima_5, data2=%maxima_4, op=maximum
    %carried_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.exponential dst=%carried_1, src=%maxima_4, max_value=%maxima_5
    nisa.tensor_tensor dst=%carried_1, data1=%carried_1, data2=%total_1, op=multiply
    %y_5 = nki.view %y_3 offset=512 pattern=[[1024, 128], [1, 512]]
    nisa.exponential dst=%y_5, src=%x_tile_3, max_value=%maxima_5, reduce_res=%total_1, reduce_cmd=load_reduce, reduce_init=%carried_1
    %factors_3 = nki.alloc : memref<128x2xf32, #nki.sbuf>
    nisa.exponential dst=%factors_3, src=%maxima_3, max_value=%maxima_5
    %inverse_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_1, data=%total_1
    %result_2 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %factors_4 = nki.view %factors_3 offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_scalar dst=%result_2, data=%y_4, op0=multiply, operand0=%factors_4, op1=multiply, operand1=%inverse_1
    %out_3 = nki.view %out offset=131072 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_3, src=%result_2
    %result_3 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %factors_5 = nki.view %factors_3 offset=1 pattern=[[2, 128], [1, 1]]
    nisa.tensor_scalar dst=%result_3, data=%y_5, op0=multiply, operand0=%factors_5, op1=multiply, operand1=%inverse_1
    %out_4 = nki.view %out offset=131584 pattern=[[1024, 128], [1, 512]]
    nisa.dma_copy dst=%out_4, src=%result_3
    nki.return %out
  }
}
