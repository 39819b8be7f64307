// RUN: not nkijit-opt -p verify-accumulators %s 2>&1 | filecheck %s

// accumulate=True adds to what a matmul has written before, and needs something to add to.

nki.kernel @first_accumulates() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %other = nki.alloc : memref<64x64xf32, #nki.psum>
  // Nothing has written there.
  // CHECK: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but nothing to add to has been written in 'dst' before
  // CHECK-NEXT: = in: nisa.nc_matmul dst=%{{.*}}, stationary=%{{.*}}, moving=%{{.*}}, accumulate=true
  // CHECK-NEXT: = dst: %psum, psum 64x64 float32
  // CHECK-NEXT: = help: use accumulate=False (or None) for the first matmul of a group
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  // On NeuronCore-v4 any instruction may have written it.
  nisa.memset dst=%other, value=0
  nisa.nc_matmul dst=%other, stationary=%a, moving=%a, accumulate=true
  nki.return
}

nki.kernel @memset_is_no_matmul() target=trn2 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.memset dst=%psum, value=0
  // CHECK: error[psum-accumulate]
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// A group that starts with False or None, and windows that overlap it.
// CHECK-NOT: error[
nki.kernel @groups() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %window = nki.view %psum offset=16 pattern=[[64, 64], [1, 32]]
  %inferred = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%window, stationary=%a, moving=%b, accumulate=true
  nisa.nc_matmul dst=%inferred, stationary=%a, moving=%a
  nisa.nc_matmul dst=%inferred, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// CHECK: 2 errors
