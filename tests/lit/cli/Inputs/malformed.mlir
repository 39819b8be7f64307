nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.reciprocal dst=%tile, data=%tale
  nki.return
}
