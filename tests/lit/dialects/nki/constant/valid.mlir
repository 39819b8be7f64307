// RUN: nkijit verify -p verify-instructions %s | filecheck %s
// CHECK: no findings

// Constant data is read, as a whole and in a part.
nki.kernel @constant_written(%x: memref<4x8xf32, #nki.private_hbm>) target=trn3 {
  %c = nki.constant zlib "eNpjYBhYAAAAgAAB" : memref<4x8xf32, #nki.shared_hbm>
  %tile = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.dma_copy dst=%tile, src=%c
  %row = nki.view %c offset=8 pattern=[[8, 1], [1, 8]]
  %to = nki.view %x offset=8 pattern=[[8, 1], [1, 8]]
  nisa.dma_copy dst=%to, src=%row
  nki.return %c
}
