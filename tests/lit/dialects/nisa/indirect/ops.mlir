// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of DMAs that gather and scatter rows, and of tensor indirection: parsed, printed, and
// parsed again.

// CHECK-LABEL: nki.kernel @dma_compute(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @dma_compute(%x: memref<64x8xf32, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<16x1xi32, #nki.sbuf>
  %data = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %sum = nki.alloc : memref<8x16xbf16, #nki.shared_hbm>
  // CHECK: %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  // The fewest arguments.
  // CHECK-NEXT: nisa.dma_compute dst=%sum, srcs=[%data], reduce_op=add
  nisa.dma_compute dst=%sum, srcs=[%data], reduce_op=add
  // Scales are float32, whatever they were written as; -0.0 and 0.1 are kept.
  // CHECK-NEXT: nisa.dma_compute dst=%sum, srcs=[%data, %data], reduce_op=add, scales=[1.0, 1.0]
  nisa.dma_compute dst=%sum, srcs=[%data, %data], reduce_op=add, scales=[1, 1.0]
  // CHECK-NEXT: nisa.dma_compute dst=%sum, srcs=[%data, %data, %data], reduce_op=maximum, scales=[-0.0, 0.1, 0x7F800000]
  nisa.dma_compute dst=%sum, srcs=[%data, %data, %data], reduce_op=maximum, scales=[-0.0, 0.1, 0x7F800000]
  // All arguments, scattering and gathering.
  // CHECK-NEXT: nisa.dma_compute dst=%view, srcs=[%view, %data], reduce_op=add, scales=[1.0, 1.0], unique_indices=false, oob_mode=skip, name="rmw"
  nisa.dma_compute dst=%view, srcs=[%view, %data], reduce_op=add, scales=[1.0, 1.0], unique_indices=false, oob_mode=skip, name="rmw"
  // CHECK-NEXT: nisa.dma_compute dst=%data, srcs=[%view, %data], reduce_op=add
  nisa.dma_compute dst=%data, srcs=[%view, %data], reduce_op=add
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @dma_transpose(%x: memref<64x8xbf16, #nki.private_hbm>) target=trn3 {
nki.kernel @dma_transpose(%x: memref<64x8xbf16, #nki.private_hbm>) target=trn3 {
  %rows = nki.alloc : memref<16x1xui32, #nki.sbuf>
  %dst = nki.alloc : memref<8x16xbf16, #nki.sbuf>
  // CHECK: %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  %view = nki.view %x offset=0 pattern=[[8, 16], [1, 8]] vector=%rows scale=8 bound=64
  // CHECK-NEXT: nisa.dma_transpose dst=%dst, src=%view, dge_mode=swdge, oob_mode=skip
  nisa.dma_transpose dst=%dst, src=%view, dge_mode=swdge, oob_mode=skip
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @indirect() target=trn3 {
nki.kernel @indirect() target=trn3 {
  %tile = nki.alloc : memref<16x8xf32, #nki.sbuf>
  %numbers = nki.alloc : memref<16x1xui32, #nki.sbuf>
  // CHECK: %few = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  %few = nki.view %tile offset=0 pattern=[[8, 16], [1, 8]] tensor=%numbers scale=1 bound=8 count=4
  // CHECK-NEXT: nisa.tensor_copy dst=%few, src=%few
  nisa.tensor_copy dst=%few, src=%few
  // CHECK-NEXT: nki.return
  nki.return
}
