// RUN: %roundtrip
// RUN: nkijit verify -p verify-instructions %s | filecheck --check-prefix=VERIFY %s

// The text of constant data: hexadecimal where it is short, else compressed.

// Bytes as they lie in memory, little-endian, for every data type; NaN keep their bits.
// CHECK-LABEL: nki.kernel @types() target=trn3 {
nki.kernel @types() target=trn3 {
  // CHECK-NEXT: %i8 = nki.constant "00FF807F" : memref<2x2xi8, #nki.shared_hbm>
  %i8 = nki.constant "00FF807F" : memref<2x2xi8, #nki.shared_hbm>
  // CHECK-NEXT: %ui8 = nki.constant "00FF807F" : memref<2x2xui8, #nki.shared_hbm>
  %ui8 = nki.constant "00FF807F" : memref<2x2xui8, #nki.shared_hbm>
  // CHECK-NEXT: %i16 = nki.constant "00800100FFFFFE7F" : memref<2x2xi16, #nki.shared_hbm>
  %i16 = nki.constant "00800100FFFFFE7F" : memref<2x2xi16, #nki.shared_hbm>
  // CHECK-NEXT: %ui16 = nki.constant "00800100FFFFFE7F" : memref<2x2xui16, #nki.shared_hbm>
  %ui16 = nki.constant "00800100FFFFFE7F" : memref<2x2xui16, #nki.shared_hbm>
  // CHECK-NEXT: %i32 = nki.constant "00000080010000FFFFFFFF7F00000000" : memref<2x2xi32, #nki.shared_hbm>
  %i32 = nki.constant "00000080010000FFFFFFFF7F00000000" : memref<2x2xi32, #nki.shared_hbm>
  // CHECK-NEXT: %ui32 = nki.constant "FFFFFFFF000000000100000000000080" : memref<2x2xui32, #nki.shared_hbm>
  %ui32 = nki.constant "FFFFFFFF000000000100000000000080" : memref<2x2xui32, #nki.shared_hbm>
  // CHECK-NEXT: %f32 = nki.constant "0000803F0000C07F000080FF00000080" : memref<2x2xf32, #nki.shared_hbm>
  %f32 = nki.constant "0000803F0000C07F000080FF00000080" : memref<2x2xf32, #nki.shared_hbm>
  // CHECK-NEXT: %tf32 = nki.constant "0000803F0020807F000080FF00000080" : memref<2x2xtf32, #nki.shared_hbm>
  %tf32 = nki.constant "0000803F0020807F000080FF00000080" : memref<2x2xtf32, #nki.shared_hbm>
  // CHECK-NEXT: %f16 = nki.constant "003C007E00FC0080" : memref<2x2xf16, #nki.shared_hbm>
  %f16 = nki.constant "003C007E00FC0080" : memref<2x2xf16, #nki.shared_hbm>
  // CHECK-NEXT: %bf16 = nki.constant "803FC07F80FF0080" : memref<2x2xbf16, #nki.shared_hbm>
  %bf16 = nki.constant "803FC07F80FF0080" : memref<2x2xbf16, #nki.shared_hbm>
  // CHECK-NEXT: %f8E4M3 = nki.constant "387FFF80" : memref<2x2xf8E4M3, #nki.shared_hbm>
  %f8E4M3 = nki.constant "387FFF80" : memref<2x2xf8E4M3, #nki.shared_hbm>
  // CHECK-NEXT: %f8E4M3FN = nki.constant "387FFF80" : memref<2x2xf8E4M3FN, #nki.shared_hbm>
  %f8E4M3FN = nki.constant "387FFF80" : memref<2x2xf8E4M3FN, #nki.shared_hbm>
  // CHECK-NEXT: %f8E5M2 = nki.constant "3C7EFC80" : memref<2x2xf8E5M2, #nki.shared_hbm>
  %f8E5M2 = nki.constant "3C7EFC80" : memref<2x2xf8E5M2, #nki.shared_hbm>
  // CHECK-NEXT: %f8E8M0FNU = nki.constant "7FFF0001" : memref<2x2xf8E8M0FNU, #nki.shared_hbm>
  %f8E8M0FNU = nki.constant "7FFF0001" : memref<2x2xf8E8M0FNU, #nki.shared_hbm>
  // CHECK-NEXT: %f8E5M2x4 = nki.constant "00112233445566778899AABBCCDDEEFF" : memref<2x2x!nki.f8E5M2x4, #nki.shared_hbm>
  %f8E5M2x4 = nki.constant "00112233445566778899AABBCCDDEEFF" : memref<2x2x!nki.f8E5M2x4, #nki.shared_hbm>
  // CHECK-NEXT: %f8E4M3FNx4 = nki.constant "00112233445566778899AABBCCDDEEFF" : memref<2x2x!nki.f8E4M3FNx4, #nki.shared_hbm>
  %f8E4M3FNx4 = nki.constant "00112233445566778899AABBCCDDEEFF" : memref<2x2x!nki.f8E4M3FNx4, #nki.shared_hbm>
  // CHECK-NEXT: %f4E2M1FNx4 = nki.constant "0011223344556677" : memref<2x2x!nki.f4E2M1FNx4, #nki.shared_hbm>
  %f4E2M1FNx4 = nki.constant "0011223344556677" : memref<2x2x!nki.f4E2M1FNx4, #nki.shared_hbm>
  // CHECK-NEXT: nki.return
  nki.return
}

// Hexadecimal is read in both cases, and printed in capitals.
// CHECK-LABEL: nki.kernel @lower_case() target=trn3 {
nki.kernel @lower_case() target=trn3 {
  // CHECK-NEXT: %c = nki.constant "ABCDEF00" : memref<1xf32, #nki.shared_hbm>
  %c = nki.constant "abcdef00" : memref<1xf32, #nki.shared_hbm>
  // CHECK-NEXT: nki.return
  nki.return
}

// More than 64 bytes are compressed, whatever they were written as; attributes stay.
// CHECK-LABEL: nki.kernel @long() target=trn3 {
nki.kernel @long() target=trn3 {
  // CHECK-NEXT: %c = nki.constant zlib "{{[A-Za-z0-9+/=]+}}" {origin = "a test"} : memref<16x16xui8, #nki.shared_hbm>
  %c = nki.constant zlib "eNoBAAH//gABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9AQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpbXF1eX2BhYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ent8fX5/gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp+goaKjpKWmp6ipqqusra6vsLGys7S1tre4ubq7vL2+v8DBwsPExcbHyMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/v+t9n+B" {origin = "a test"} : memref<16x16xui8, #nki.shared_hbm>
  // CHECK-NEXT: %d = nki.constant zlib "{{[A-Za-z0-9+/=]+}}" : memref<65xui8, #nki.shared_hbm>
  %d = nki.constant "0707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707" : memref<65xui8, #nki.shared_hbm>
  // CHECK-NEXT: %e = nki.constant "0707070707070707" : memref<8xui8, #nki.shared_hbm>
  %e = nki.constant zlib "eJxjZ4cAAAEEADk=" : memref<8xui8, #nki.shared_hbm>
  // CHECK-NEXT: nki.return %c
  nki.return %c
}

// VERIFY: no findings
