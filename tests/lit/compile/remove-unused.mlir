// RUN: nkijit-opt %s -p remove-unused | filecheck %s

// What nothing reads goes, with what was made for it only, and with its tiles.
// CHECK-LABEL: nki.kernel @unused
nki.kernel @unused(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  // CHECK-NEXT: nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // CHECK-NEXT: nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %c offset=0 pattern=[[64, 128], [1, 32]]
  // CHECK-NEXT: nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%b, op=exp, data=%a
  nisa.tensor_tensor dst=%c, data1=%b, data2=%a, op=add
  nisa.memset dst=%left, value=1.0
  // CHECK-NEXT: nisa.dma_copy dst=%out, src=%a
  nisa.dma_copy dst=%out, src=%a
  nki.return %out
}

// A name from the author keeps an instruction: others may be told to run after it.
// CHECK-LABEL: nki.kernel @named
nki.kernel @named(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK: nisa.memset
  nisa.memset dst=%a, value=1.0, name="first"
  nisa.dma_copy dst=%out, src=%x
  nki.return %out
}
