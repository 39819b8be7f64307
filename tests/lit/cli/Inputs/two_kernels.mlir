// Two kernels, so that a command has to name one; the first is wrong.
nki.kernel @wrong() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  nisa.activation dst=%tile, op=add, data=%tile
  nki.return
}

nki.kernel @right() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%tile, value=0
  nisa.activation dst=%tile, op=exp, data=%tile
  nki.device_print "tile", %tile
  nki.return
}
