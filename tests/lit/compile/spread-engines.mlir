// RUN: nkijit-opt %s -p spread-engines | filecheck %s

// On trn1, copies and tensor_scalar go to the engine that finishes them first, by the cost model.
// CHECK-LABEL: nki.kernel @open
nki.kernel @open(%x: memref<128x2048xf32, #nki.shared_hbm>) target=trn1 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2, engine=scalar
  nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2
  // CHECK-NEXT: nisa.tensor_scalar dst=%c, data=%a, op0=add, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%c, data=%a, op0=add, operand0=%c2
  // CHECK-NEXT: nisa.tensor_tensor dst=%d, data1=%a, data2=%a, op=multiply, engine=vector
  nisa.tensor_tensor dst=%d, data1=%a, data2=%a, op=multiply, engine=vector
  nisa.tensor_tensor dst=%b, data1=%b, data2=%c, op=add, engine=vector
  nisa.tensor_tensor dst=%b, data1=%b, data2=%d, op=add, engine=vector
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}

// The Scalar Engine of trn1 copies with activation: floating-point numbers only, as it converts to
// float32.
// CHECK-LABEL: nki.kernel @copies
nki.kernel @copies(%x: memref<128x2048xf32, #nki.shared_hbm>, %n: memref<128x2048xi32, #nki.shared_hbm>) target=trn1 {
  %out = nki.alloc : memref<128x2048xf32, #nki.shared_hbm>
  %numbers = nki.alloc : memref<128x2048xi32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x2048xbf16, #nki.sbuf>
  %c = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x2048xf32, #nki.sbuf>
  %i = nki.alloc : memref<128x2048xi32, #nki.sbuf>
  %j = nki.alloc : memref<128x2048xi32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%i, src=%n
  // CHECK: nisa.activation dst=%b, op=copy, data=%a{{$}}
  nisa.tensor_copy dst=%b, src=%a
  // CHECK-NEXT: nisa.tensor_copy dst=%c, src=%a, engine=vector
  nisa.tensor_copy dst=%c, src=%a, engine=vector
  // CHECK-NEXT: nisa.tensor_copy dst=%j, src=%i{{$}}
  nisa.tensor_copy dst=%j, src=%i
  // CHECK-NEXT: nisa.tensor_tensor dst=%d
  nisa.tensor_tensor dst=%d, data1=%b, data2=%c, op=add, engine=vector
  nisa.dma_copy dst=%out, src=%d
  nisa.dma_copy dst=%numbers, src=%j
  nki.return %out
}

// On trn2, only copies out of PSUM move, and none of a fixed engine.
// CHECK-LABEL: nki.kernel @newer
nki.kernel @newer(%x: memref<128x512xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.psum>
  %c = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %d = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %e = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK: nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2{{$}}
  nisa.tensor_scalar dst=%b, data=%a, op0=multiply, operand0=%c2
  // CHECK-NEXT: nisa.tensor_copy dst=%c, src=%b, engine=vector
  nisa.tensor_copy dst=%c, src=%b, engine=vector
  // CHECK-NEXT: nisa.tensor_copy dst=%d, src=%b, engine=scalar
  nisa.tensor_copy dst=%d, src=%b
  // CHECK-NEXT: nisa.tensor_copy dst=%e, src=%c{{$}}
  nisa.tensor_copy dst=%e, src=%c
  // CHECK-NEXT: nisa.tensor_tensor dst=%c, data1=%d, data2=%e, op=add{{$}}
  nisa.tensor_tensor dst=%c, data1=%d, data2=%e, op=add
  nisa.dma_copy dst=%out, src=%c
  nki.return %out
}

// Engines that the rules do not allow are none: Scalar has no maximum.
// CHECK-LABEL: nki.kernel @no_other
nki.kernel @no_other(%x: memref<128x512xf32, #nki.shared_hbm>) target=trn1 {
  %out = nki.alloc : memref<128x512xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x512xf32, #nki.sbuf>
  %c2 = arith.constant 2.0 : f32
  nisa.dma_copy dst=%a, src=%x
  // CHECK-NOT: engine=
  // CHECK: nki.return
  nisa.tensor_scalar dst=%b, data=%a, op0=maximum, operand0=%c2
  nisa.tensor_scalar dst=%c, data=%a, op0=minimum, operand0=%c2
  nisa.tensor_tensor dst=%c, data1=%b, data2=%c, op=add
  nisa.dma_copy dst=%out, src=%c
  nki.return %out
}
