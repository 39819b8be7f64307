// RUN: nkijit verify -p verify-results %s | filecheck %s

// Results that nothing uses.

// -------------------- overwritten in loops

// The sum over the iterations was wanted, but the matmul in the loop overwrites.
nki.kernel @inferred() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %sbuf = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    // CHECK: warning[overwritten-result]: nisa.nc_matmul: 'psum' is overwritten before anything reads the result: the result of every iteration but the last is lost
    // CHECK: = help: run the first iteration before the loop, and pass accumulate=True in the loop; or read 'dst' in every iteration
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  }
  nki.device_print "sum", %psum
  nki.return
}

// Each iteration has a product of its own, or adds to the contents before the loop.
nki.kernel @read_in_each_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %sum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%sum, stationary=%a, moving=%a
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
    nki.device_print "product", %psum
    nisa.nc_matmul dst=%sum, stationary=%a, moving=%a
  }
  nki.device_print "sum", %sum
  nki.return
}

// A loop that runs once overwrites nothing of its own.
nki.kernel @one_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  }
  nki.device_print "sum", %psum
  nki.return
}

// A loop that need not run leaves the earlier result.
nki.kernel @no_iteration(%x: memref<128x64xf32, #nki.private_hbm>, %n: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %count = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.dma_copy dst=%count, src=%n
  %r = nki.register
  nisa.register_load dst=%r, src=%count
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  %m = nki.read %r
  scf.for %i = %c0 to %m step %c1 : i32 {
    nisa.dma_copy dst=%a, src=%x
    nki.device_print "a", %a
  }
  nki.device_print "a", %a
  nki.return
}

// -------------------- overwritten once

// CHECK: warning[overwritten-result]: nisa.tensor_copy: 'psum' is overwritten before anything reads the result
// CHECK: overwritten by nisa.nc_matmul
// CHECK: = help: pass accumulate=True to add to it, or add it after the last matmul, e.g. with nisa.tensor_tensor
nki.kernel @bias(%b: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bias = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.dma_copy dst=%bias, src=%b
  nisa.tensor_copy dst=%psum, src=%bias
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  nki.device_print "sum", %psum
  nki.return
}

// Before NeuronCore-v4, a matmul adds to results of matmuls only.
// CHECK: warning[overwritten-result]: nisa.tensor_copy: 'psum' is overwritten before anything reads the result
// CHECK: = help: add it after the last matmul, e.g. with nisa.tensor_tensor
nki.kernel @bias_trn2(%b: memref<64x64xf32, #nki.private_hbm>) target=trn2 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bias = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.dma_copy dst=%bias, src=%b
  nisa.tensor_copy dst=%psum, src=%bias
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nki.device_print "sum", %psum
  nki.return
}

// CHECK: warning[overwritten-result]: nisa.nc_matmul: 'psum' is overwritten before anything reads the result
// CHECK: = help: pass accumulate=True to the later one to add both, or give each its own 'dst'
nki.kernel @two_matmuls() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nki.device_print "sum", %psum
  nki.return
}

// Zeros that a matmul overwrites are no loss: they cost time.
// CHECK: warning[redundant-fill]: nisa.memset: nothing reads what it writes: about 111 cycles
nki.kernel @zeros() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.memset dst=%psum, value=0.0
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nki.device_print "sum", %psum
  nki.return
}

// A part of the result is read, or remains.
nki.kernel @parts(%x: memref<128x512xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[512, 128], [1, 256]]
  %x0 = nki.view %x offset=0 pattern=[[512, 128], [1, 256]]
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%left, src=%x0
  nki.device_print "a", %a
  nki.return
}

// A gather that skips rows leaves them as they are.
nki.kernel @skipped(%x: memref<8x4xf32, #nki.private_hbm>, %n: memref<8x1xi32, #nki.private_hbm>) target=trn3 {
  %i = nki.alloc : memref<8x1xi32, #nki.sbuf>
  %a = nki.alloc : memref<8x4xf32, #nki.sbuf>
  %rows = nki.view %x offset=0 pattern=[[4, 8], [1, 4]] vector=%i scale=4 bound=8
  nisa.dma_copy dst=%i, src=%n
  nisa.memset dst=%a, value=0.0
  nisa.dma_copy dst=%a, src=%rows, oob_mode=skip
  nki.device_print "a", %a
  nki.return
}

// A sum that only its own next iteration reads.
// CHECK: warning[dead-store]: nisa.tensor_tensor: nothing reads what it writes: about 124 cycles
nki.kernel @unread_sum(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nki.device_print "a", %a
  nisa.memset dst=%sum, value=0.0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.tensor_tensor dst=%sum, data1=%sum, data2=%a, op=add
  }
  nki.return
}

// CHECK: 6 warnings
