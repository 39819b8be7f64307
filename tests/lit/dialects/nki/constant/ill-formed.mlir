// RUN: nkijit-opt --split-input-file --parsing-diagnostics --verify-diagnostics %s | filecheck %s

// More or fewer bytes than elements.
// CHECK: expected 16 bytes for memref<4xf32, #nki.shared_hbm>, got 4
nki.kernel @k() target=trn3 {
  %c = nki.constant "00000000" : memref<4xf32, #nki.shared_hbm>
  nki.return
}

// -----

// Neither hexadecimal nor compressed.
// CHECK: expected the bytes of a constant: non-hexadecimal number
nki.kernel @k() target=trn3 {
  %c = nki.constant "0g" : memref<1xi8, #nki.shared_hbm>
  nki.return
}

// -----

// CHECK: expected the bytes of a constant: {{.*}}base64
nki.kernel @k() target=trn3 {
  %c = nki.constant zlib "?" : memref<1xi8, #nki.shared_hbm>
  nki.return
}

// -----

// CHECK: expected the bytes of a constant: Error -3 while decompressing data
nki.kernel @k() target=trn3 {
  %c = nki.constant zlib "AAAA" : memref<1xi8, #nki.shared_hbm>
  nki.return
}

// -----

// A constant on chip would have to be loaded first.
// CHECK: a constant lives in shared HBM, got memref<1x1xi8, #nki.sbuf>
nki.kernel @k() target=trn3 {
  %c = nki.constant "00" : memref<1x1xi8, #nki.sbuf>
  nki.return
}

// -----

// CHECK: a constant is contiguous, it has no layout
nki.kernel @k() target=trn3 {
  %c = nki.constant "0000" : memref<2xi8, strided<[2], offset: 0>, #nki.shared_hbm>
  nki.return
}

// -----

// No more is inflated than the type has room for.
// CHECK: {{.*}}ill-formed.mlir:[[# @LINE + 3]]:26
// CHECK: expected the bytes of a constant: there are more than 64
nki.kernel @k() target=trn3 {
  %c = nki.constant zlib "eNpjYBhYAAAAgAAB" : memref<4x4xf32, #nki.shared_hbm>
  nki.return
}

// -----

// Something follows what was compressed.
// CHECK: expected the bytes of a constant: more follows the compressed data
nki.kernel @k() target=trn3 {
  %c = nki.constant zlib "eNpjYBhYAAAAgAABeA==" : memref<4x8xf32, #nki.shared_hbm>
  nki.return
}

// -----

// The end is missing.
// CHECK: expected the bytes of a constant: the compressed data end too early
nki.kernel @k() target=trn3 {
  %c = nki.constant zlib "eNpjYBhYAAAA" : memref<4x8xf32, #nki.shared_hbm>
  nki.return
}

// -----

// The same as an attribute, which has no type.
// CHECK: expected the bytes of a constant: more follows the compressed data
"builtin.module"() <{sym_name = "m"}> ({
  %c = "nki.constant"() <{data = #nki.data<zlib "eNpjYBhYAAAAgAABeA==">}> : () -> memref<4x8xf32, #nki.shared_hbm>
}) : () -> ()
