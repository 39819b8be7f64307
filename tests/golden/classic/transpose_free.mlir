builtin.module {
  nki.kernel @transpose_free(%x: memref<64x12x20xf32, #nki.private_hbm>) target=trn2 classic {
    %out = nki.alloc : memref<64x20x12xf32, #nki.shared_hbm>
    %x_tile = nki.alloc : memref<64x12x20xf32, #nki.sbuf>
    nisa.dma_copy dst=%x_tile, src=%x
    %transposed = nki.alloc : memref<64x20x12xf32, #nki.sbuf>
    %transposed_1 = nki.view %transposed offset=0 pattern=[[240, 64], [1, 12], [12, 20]]
    nisa.tensor_copy dst=%transposed_1, src=%x_tile
    nisa.dma_copy dst=%out, src=%transposed
    nki.return %out
  }
}
