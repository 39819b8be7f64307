nki.kernel @narrow() target=trn2 {
  %x = nki.alloc : memref<128xf32, #nki.sbuf> loc("kernel.py":5:9)
  nisa.memset dst=%x, value=0
  nki.return
}
