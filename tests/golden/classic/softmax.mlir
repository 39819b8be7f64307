builtin.module {
  nki.kernel @softmax(%x: memref<300x512xf32, #nki.private_hbm>) target=trn2 classic {
    %out = nki.alloc : memref<300x512xf32, #nki.shared_hbm>
    %x_tile = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %x_1 = nki.view %x offset=0 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile, src=%x_1
    %negative_max = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_max, op=maximum, data=%x_tile, axis=[1], negate=true, keepdims=true
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %shifted = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.activation_reduce dst=%shifted, op=exp, data=%x_tile, reduce_op=add, reduce_res=%total, bias=%negative_max
    %sbuf = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%sbuf, data=%total
    %result = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%result, data=%shifted, op0=multiply, operand0=%sbuf
    %out_1 = nki.view %out offset=0 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%out_1, src=%result
    %x_tile_1 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    %x_2 = nki.view %x offset=65536 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%x_tile_1, src=%x_2
    %negative_max_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_max_1, op=maximum, data=%x_tile_1, axis=[1], negate=true, keepdims=true
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %shifted_1 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.activation_reduce dst=%shifted_1, op=exp, data=%x_tile_1, reduce_op=add, reduce_res=%total_1, bias=%negative_max_1
    %sbuf_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%sbuf_1, data=%total_1
    %result_1 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%result_1, data=%shifted_1, op0=multiply, operand0=%sbuf_1
    %out_2 = nki.view %out offset=65536 pattern=[[512, 128], [1, 512]]
    nisa.dma_copy dst=%out_2, src=%result_1
    %x_tile_2 = nki.alloc {masked} : memref<128x512xf32, #nki.sbuf>
    %x_tile_3 = nki.view %x_tile_2 offset=0 pattern=[[512, 44], [1, 512]]
    %x_3 = nki.view %x offset=131072 pattern=[[512, 44], [1, 512]]
    nisa.dma_copy dst=%x_tile_3, src=%x_3
    %negative_max_2 = nki.alloc {masked} : memref<128x1xf32, #nki.sbuf>
    %negative_max_3 = nki.view %negative_max_2 offset=0 pattern=[[1, 44], [1, 1]]
    nisa.tensor_reduce dst=%negative_max_3, op=maximum, data=%x_tile_3, axis=[1], negate=true, keepdims=true
    %total_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %shifted_2 = nki.alloc {masked} : memref<128x512xf32, #nki.sbuf>
    %shifted_3 = nki.view %shifted_2 offset=0 pattern=[[512, 44], [1, 512]]
    %total_3 = nki.view %total_2 offset=0 pattern=[[1, 44], [1, 1]]
    nisa.activation_reduce dst=%shifted_3, op=exp, data=%x_tile_3, reduce_op=add, reduce_res=%total_3, bias=%negative_max_3
    %sbuf_2 = nki.alloc {masked} : memref<128x1xf32, #nki.sbuf>
    %sbuf_3 = nki.view %sbuf_2 offset=0 pattern=[[1, 44], [1, 1]]
    nisa.reciprocal dst=%sbuf_3, data=%total_3
    %result_2 = nki.alloc {masked} : memref<128x512xf32, #nki.sbuf>
    %result_3 = nki.view %result_2 offset=0 pattern=[[512, 44], [1, 512]]
    nisa.tensor_scalar dst=%result_3, data=%shifted_3, op0=multiply, operand0=%sbuf_3
    %out_3 = nki.view %out offset=131072 pattern=[[512, 44], [1, 512]]
    nisa.dma_copy dst=%out_3, src=%result_3
    nki.return %out
  }
}
