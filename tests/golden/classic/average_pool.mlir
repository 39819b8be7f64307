builtin.module {
  nki.kernel @average_pool(%x: memref<32x21x33xf32, #nki.private_hbm>) target=trn2 classic {
    %c0.11111111 = arith.constant 0.111111112 : f32
    %out = nki.alloc : memref<32x10x16xf32, #nki.shared_hbm>
    %x_tile = nki.alloc : memref<32x21x33xf32, #nki.sbuf>
    nisa.dma_copy dst=%x_tile, src=%x
    %total = nki.alloc : memref<32x10x16xf32, #nki.sbuf>
    %x_tile_1 = nki.view %x_tile offset=0 pattern=[[693, 32], [66, 10], [2, 16], [33, 3], [1, 3]]
    nisa.tensor_reduce dst=%total, op=add, data=%x_tile_1, axis=[3, 4]
    %sbuf = nki.alloc : memref<32x10x16xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%sbuf, data=%total, op0=multiply, operand0=%c0.11111111
    nisa.dma_copy dst=%out, src=%sbuf
    nki.return %out
  }
}
