// RUN: nkijit-opt %s -p spread-engines | filecheck %s

// The Vector Engine has most to do: others help. Where the author has said so, nothing changes.
// CHECK-LABEL: nki.kernel @open
nki.kernel @open(%x: memref<128x2048xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2
  // CHECK-NEXT: nisa.tensor_scalar dst=%c, data=%a, op0=add, operand0=%c2, engine=scalar
  nisa.tensor_scalar dst=%c, data=%a, op0=add, operand0=%c2
  // CHECK-NEXT: nisa.tensor_tensor dst=%d, data1=%a, data2=%a, op=multiply, engine=vector
  nisa.tensor_tensor dst=%d, data1=%a, data2=%a, op=multiply, engine=vector
  nisa.tensor_tensor dst=%b, data1=%b, data2=%c, op=add, engine=vector
  nisa.tensor_tensor dst=%b, data1=%b, data2=%d, op=add, engine=vector
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// DMA has most to do, or what others would do is needed at once: nothing changes.
// CHECK-LABEL: nki.kernel @no_gain
nki.kernel @no_gain(%x: memref<128x2048xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2
  // CHECK-NEXT: nisa.tensor_scalar dst=%b, data=%b, op0=add, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%b, data=%b, op0=add, operand0=%c2
  // CHECK-NEXT: nisa.tensor_scalar dst=%b, data=%b, op0=multiply, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%b, data=%b, op0=multiply, operand0=%c2
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// Engines that the rules do not allow are none: Scalar has no maximum, GpSimd does not reach PSUM.
// CHECK-LABEL: nki.kernel @no_other
nki.kernel @no_other(%x: memref<128x512xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.psum>
  %c = nki.alloc : memref<128x512xf32, #nki.psum>
  %d = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: engine=
  // CHECK: nki.return
  nisa.tensor_scalar dst=%b, data=%a, op0=maximum, operand0=%c2
  nisa.tensor_scalar dst=%c, data=%a, op0=minimum, operand0=%c2
  nisa.tensor_tensor dst=%d, data1=%b, data2=%a, op=add
  nisa.tensor_tensor dst=%d, data1=%c, data2=%d, op=add
  nisa.dma_copy dst=%out, src=%d
  nki.return %out
}
