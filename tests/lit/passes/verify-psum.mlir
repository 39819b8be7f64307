// RUN: not nkijit-opt -p verify-accumulators %s 2>&1 | filecheck --match-full-lines %s

// verify-accumulators follows accumulation groups: a matmul that overwrites, and others that add to
// what it has left in PSUM.

// -------------------- nothing to add to

nki.kernel @first_accumulates() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %other = nki.alloc : memref<64x64xf32, #nki.psum>
  // Nothing has written there.
  // CHECK: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but nothing to add to has been written in 'dst' before
  // CHECK-NEXT: --> {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%{{.*}}, stationary=%{{.*}}, moving=%{{.*}}, accumulate=true
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: = dst: %psum, psum 64x64 float32, allocated at {{.*}}
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
  nisa.memset dst=%psum, value=0, name="zeros"
  // CHECK: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but no matmul has written 'dst' before
  // CHECK-NEXT: --> {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%psum, value=0, name="zeros"
  // CHECK-NEXT: | {{-+}} nisa.memset 'zeros' has written there, which is no matmul
  // CHECK-NEXT: = dst: %psum, psum 64x64 float32, allocated at {{.*}}
  // CHECK-NEXT: = help: use accumulate=False (or None) for the first matmul of a group
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// A bias is more than zeros.
nki.kernel @bias_in_psum() target=trn2 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.memset dst=%psum, value=1
  // CHECK: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but no matmul has written 'dst' before
  // CHECK: = help: use accumulate=False (or None) for the first matmul of a group; add what nisa.memset writes to the product, e.g. with nisa.tensor_tensor
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// Half of what is added to has been written.
nki.kernel @partly_written() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %left = nki.view %psum offset=0 pattern=[[64, 64], [1, 32]]
  nisa.nc_matmul dst=%left, stationary=%a, moving=%b, accumulate=false
  // CHECK: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but a part of 'dst' has not been written before
  // CHECK: = the part has partitions 0 to 63, bytes 128 to 255 of each
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// Where the loop does not run, nothing is to add to behind it.
nki.kernel @maybe_written() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %n = nki.register
  nisa.register_move dst=%n, src=%c1
  %count = nki.read %n
  scf.for %i = %c0 to %count step %c1 : i32 {
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  }
  // CHECK: warning[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but what it adds to may not have been written
  // CHECK: = it depends on how often loops on the device run
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// The address may be that of a tile that a matmul has written.
nki.kernel @same_address() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %first = nki.alloc address=[0, 2048] : memref<64x64xf32, #nki.psum>
  %second = nki.alloc address=[0, 2048] : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%first, stationary=%a, moving=%a, accumulate=false
  // CHECK: warning[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but nothing to add to has been written in 'dst' before
  // CHECK: = another tile at the same address has been written by a matmul
  nisa.nc_matmul dst=%second, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// A group that starts with False or None, and windows that move over what has been written.
nki.kernel @groups() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x32xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  %first = nki.view %psum offset=0 pattern=[[64, 64], [1, 32]]
  %window = nki.view %psum offset=16 pattern=[[64, 64], [1, 32]]
  %strided = nki.view %psum offset=63 pattern=[[64, 64], [-2, 32]]
  %inferred = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%first, stationary=%a, moving=%b, accumulate=false
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%window, stationary=%a, moving=%b, accumulate=true
  nisa.nc_matmul dst=%strided, stationary=%a, moving=%b, accumulate=true
  nisa.nc_matmul dst=%inferred, stationary=%a, moving=%a
  nisa.nc_matmul dst=%inferred, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// Which window is written and which is added to is known at run time only.
nki.kernel @windows_at_run_time() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %b = nki.alloc : memref<128x16xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %window = nki.view %psum offset=0 pattern=[[64, 64], [1, 16]] scalar=%i scale=16 bound=4
    nisa.nc_matmul dst=%window, stationary=%a, moving=%b, accumulate=false
    nisa.nc_matmul dst=%window, stationary=%a, moving=%b, accumulate=true
  }
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// -------------------- written by another engine

// Before NeuronCore-v4 matmuls do not add to what another engine has written over their result.
nki.kernel @overwritten() target=trn2 {
  %two = arith.constant 2.0 : f32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.tensor_scalar dst=%psum, data=%psum, op0=multiply, operand0=%two, name="scaled"
  // CHECK: warning[psum-overwritten]: nisa.nc_matmul: adds to what another engine has written since the last matmul
  // CHECK-NEXT: --> {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.tensor_scalar dst=%psum, data=%psum, op0=multiply, operand0=%two, name="scaled"
  // CHECK-NEXT: | {{-+}} overwritten by nisa.tensor_scalar 'scaled'
  // CHECK-NEXT: = dst: %psum, psum 64x64 float32, allocated at {{.*}}
  // CHECK: = help: write the result to another tile, move the instruction after the last matmul, or add the parts with nisa.tensor_tensor
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// From NeuronCore-v4 on they do.
nki.kernel @overwritten_v4() target=trn3 {
  %two = arith.constant 2.0 : f32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.tensor_scalar dst=%psum, data=%psum, op0=multiply, operand0=%two
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// -------------------- read while the group is open

// The second tile adds to the first one, which has gone to SBUF already: the author wanted it to
// start anew, but accumulate=None overwrites once.
nki.kernel @reused() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %sbuf = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  nisa.tensor_copy dst=%sbuf, src=%psum, name="first tile"
  // CHECK: warning[psum-open-read]: nisa.nc_matmul: accumulate=None adds to a result that has been read already
  // CHECK-NEXT: --> {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.tensor_copy dst=%sbuf, src=%psum, name="first tile"
  // CHECK-NEXT: | {{-+}} read by nisa.tensor_copy 'first tile'
  // CHECK-NEXT: = dst: %psum, psum 64x64 float32, allocated at {{.*}}
  // CHECK: = help: read it after the last matmul; for a new group pass accumulate=False, or allocate another tile
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a
  nisa.tensor_copy dst=%sbuf, src=%psum
  nki.return
}

// A partial sum is read in each iteration.
nki.kernel @read_in_a_loop() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %sbuf = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    // CHECK: warning[psum-open-read]: nisa.nc_matmul: adds to a result that has been read already
    nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
    nisa.tensor_copy dst=%sbuf, src=%psum
  }
  nki.return
}

// Read at its end, then a new group in the same tile; a transpose overwrites, too.
nki.kernel @read_at_the_end() target=trn3 {
  %a = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %sbuf = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %psum = nki.alloc : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nisa.tensor_copy dst=%sbuf, src=%psum
  nisa.nc_transpose dst=%psum, data=%a
  nisa.tensor_copy dst=%sbuf, src=%psum
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%psum, stationary=%a, moving=%a, accumulate=true
  nisa.tensor_copy dst=%sbuf, src=%psum
  nki.return
}

// -------------------- groups in one bank

nki.kernel @interleaved() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %psum = nki.alloc : memref<64x128xf32, #nki.psum>
  %left = nki.view %psum offset=0 pattern=[[128, 64], [1, 64]]
  %right = nki.view %psum offset=64 pattern=[[128, 64], [1, 64]]
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=false, name="left"
  nisa.nc_matmul dst=%right, stationary=%a, moving=%a, accumulate=false, name="right"
  // CHECK: warning[psum-interleaved]: nisa.nc_matmul: goes on with a group while another one is open in the same PSUM bank
  // CHECK-NEXT: --> {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=true
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=false, name="left"
  // CHECK-NEXT: | {{-+}} the group began at nisa.nc_matmul 'left'
  // CHECK-NEXT: ::: {{.*}}verify-psum.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.nc_matmul dst=%right, stationary=%a, moving=%a, accumulate=false, name="right"
  // CHECK-NEXT: | {{-+}} the other at nisa.nc_matmul 'right'
  // CHECK-NEXT: = dst: %left, psum 64x64 float32, a view of %psum (psum 64x128 float32), allocated at {{.*}}
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// Two allocations may be in one bank by their addresses.
nki.kernel @interleaved_addresses() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %left = nki.alloc address=[0, 4096] : memref<64x64xf32, #nki.psum>
  %right = nki.alloc address=[0, 4352] : memref<64x64xf32, #nki.psum>
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%right, stationary=%a, moving=%a, accumulate=false
  // CHECK: warning[psum-interleaved]: nisa.nc_matmul: goes on with a group while another one is open in the same PSUM bank
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// One group after the other in one bank; two at a time in two banks, and in partitions of their own.
nki.kernel @side_by_side() target=trn3 {
  %a = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %one = nki.alloc : memref<64x128xf32, #nki.psum>
  %left = nki.view %one offset=0 pattern=[[128, 64], [1, 64]]
  %right = nki.view %one offset=64 pattern=[[128, 64], [1, 64]]
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%left, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%right, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%right, stationary=%a, moving=%a, accumulate=true
  %two = nki.alloc : memref<64x2x512xf32, #nki.psum>
  %first = nki.view %two offset=0 pattern=[[1024, 64], [1, 64]]
  %second = nki.view %two offset=512 pattern=[[1024, 64], [1, 64]]
  nisa.nc_matmul dst=%first, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%second, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%first, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%second, stationary=%a, moving=%a, accumulate=true
  %three = nki.alloc : memref<128x64xf32, #nki.psum>
  %upper = nki.view %three offset=0 pattern=[[64, 64], [1, 64]]
  %lower = nki.view %three offset=4096 pattern=[[64, 64], [1, 64]]
  nisa.nc_matmul dst=%upper, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%lower, stationary=%a, moving=%a, accumulate=false
  nisa.nc_matmul dst=%upper, stationary=%a, moving=%a, accumulate=true
  nisa.nc_matmul dst=%lower, stationary=%a, moving=%a, accumulate=true
  nki.return
}

// CHECK: 4 errors and 7 warnings
