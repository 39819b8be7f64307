// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of the moves between partitions and by index: parsed, printed, and parsed again.

// CHECK-LABEL: nki.kernel @nc_stream_shuffle() target=trn3 {
nki.kernel @nc_stream_shuffle() target=trn3 {
  %dst = nki.alloc : memref<64x8xf32, #nki.sbuf>
  %src = nki.alloc : memref<64x8xf32, #nki.psum>
  // CHECK: nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  nisa.nc_stream_shuffle dst=%dst, src=%src, shuffle_mask=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
  // CHECK-NEXT: nisa.nc_stream_shuffle dst=%dst, src=%dst, shuffle_mask=[255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0], name="swap"
  nisa.nc_stream_shuffle dst=%dst, src=%dst, shuffle_mask=[255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0], name="swap"
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @gathers() target=trn3 {
nki.kernel @gathers() target=trn3 {
  %src = nki.alloc : memref<32x16xf32, #nki.sbuf>
  %index = nki.alloc : memref<32x2xui16, #nki.sbuf>
  %indices = nki.alloc : memref<32x32xui32, #nki.sbuf>
  %dst = nki.alloc : memref<32x32xf32, #nki.sbuf>
  // The fewest arguments.
  // CHECK: nisa.local_gather dst=%dst, src_buffer=%src, index=%index
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index
  // All arguments.
  // CHECK-NEXT: nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=4, num_valid_indices=8, name="local"
  nisa.local_gather dst=%dst, src_buffer=%src, index=%index, num_elem_per_idx=4, num_valid_indices=8, name="local"
  // CHECK-NEXT: nisa.nc_n_gather dst=%dst, data=%src, indices=%indices
  nisa.nc_n_gather dst=%dst, data=%src, indices=%indices
  // CHECK-NEXT: nisa.nc_n_gather dst=%dst, data=%src, indices=%indices, name="gather"
  nisa.nc_n_gather dst=%dst, data=%src, indices=%indices, name="gather"
  // CHECK-NEXT: nki.return
  nki.return
}
