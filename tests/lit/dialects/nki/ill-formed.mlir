// RUN: nkijit-opt --split-input-file --parsing-diagnostics --verify-diagnostics %s | filecheck %s
// RUN: %python %S/../../Inputs/verify_each.py %s | filecheck %s

// IR that can be written down but means nothing: no pass runs on it.

// On chip the first dimension steps from partition to partition.
// CHECK: dim 0 does not step by whole partitions; the shape is (64, 128), strides (1, 64), offset 0; legal: a stride that is a multiple of the 64 elements per partition
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[1, 64], [64, 128]]
  nki.return
}

// -----

// A dimension of no elements.
// CHECK: the count of (1, 0) is 0; the pattern is ((64, 128), (1, 0)); legal: one [stride, count] or more, counts of at least 1
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[64, 128], [1, 0]]
  nki.return
}

// -----

// No dimension.
// CHECK: no pairs; the pattern is (); legal: one [stride, count] or more, counts of at least 1
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[]
  nki.return
}

// -----

// A view as a type that NKI does not have.
// CHECK: expected an element type of NKI
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %view = nki.view %tile offset=0 pattern=[[64, 128], [1, 32]] as f64
  nki.return
}

// -----

// A view of a number.
// CHECK: expected a memref of NKI, got f32
nki.kernel @k() target=trn3 {
  %one = arith.constant 1.0 : f32
  %view = nki.view %one offset=0 pattern=[[1, 1]]
  nki.return
}

// -----

// A view of a view: one of the allocation says the same.
// CHECK: a view is taken of an allocation, not of another view
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %tile = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %view = "nki.view"(%tile) <{offset = 0 : i64, pattern = [array<i64: 64, 64>, array<i64: 1, 32>]}> : (memref<64x64xf32, #nki.sbuf>) -> memref<64x32xf32, strided<[64, 1]>, #nki.sbuf>
  %part = "nki.view"(%view) <{offset = 0 : i64, pattern = [array<i64: 32, 64>, array<i64: 1, 16>]}> : (memref<64x32xf32, strided<[64, 1]>, #nki.sbuf>) -> memref<64x16xf32, strided<[32, 1]>, #nki.sbuf>
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// A result type that does not follow from the pattern: here the layout, then the buffer.
// CHECK: expected a result of type memref<64x32xf32, strided<[64, 1]>, #nki.sbuf>, got memref<64x32xf32, #nki.sbuf>
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %tile = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %view = "nki.view"(%tile) <{offset = 0 : i64, pattern = [array<i64: 64, 64>, array<i64: 1, 32>]}> : (memref<64x64xf32, #nki.sbuf>) -> memref<64x32xf32, #nki.sbuf>
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: expected a result of type memref<64x32xf32, strided<[64, 1]>, #nki.sbuf>, got memref<64x32xf32, strided<[64, 1]>, #nki.psum>
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %tile = "nki.alloc"() : () -> memref<64x64xf32, #nki.sbuf>
  %view = "nki.view"(%tile) <{offset = 0 : i64, pattern = [array<i64: 64, 64>, array<i64: 1, 32>]}> : (memref<64x64xf32, #nki.sbuf>) -> memref<64x32xf32, strided<[64, 1]>, #nki.psum>
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// An allocation with a layout.
// CHECK: an allocation is contiguous, it has no layout
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, strided<[128, 1]>, #nki.sbuf>
  nki.return
}

// -----

// A dimension of size 0, and one that is not known.
// CHECK: expected positive dimensions, got memref<128x0xf32, #nki.sbuf>
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x0xf32, #nki.sbuf>
  nki.return
}

// -----

// CHECK: expected positive dimensions, got memref<128x?xf32, #nki.sbuf>
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x?xf32, #nki.sbuf>
  nki.return
}

// -----

// No memory space.
// CHECK: expected a memory space of NKI, got memref<128x64xf32>
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32>
  nki.return
}

// -----

// An element type that NKI does not have.
// CHECK: expected an element type of NKI, got memref<128x64xf64, #nki.sbuf>
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf64, #nki.sbuf>
  nki.return
}

// -----

// An allocation that is no tile.
// CHECK: expected a memref, got f32
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : f32
  nki.return
}

// -----

// An address without a byte, and one before the first partition.
// CHECK: expected an address of two numbers from 0 on, got (64,)
nki.kernel @k() target=trn3 {
  %tile = nki.alloc address=[64] : memref<64x64xf32, #nki.sbuf>
  nki.return
}

// -----

// CHECK: expected an address of two numbers from 0 on, got (-32, 0)
nki.kernel @k() target=trn3 {
  %tile = nki.alloc address=[-32, 0] : memref<64x64xf32, #nki.sbuf>
  nki.return
}

// -----

// CHECK: expected an address below 16777216, got (0, 1099511627776)
nki.kernel @k() target=trn3 {
  %tile = nki.alloc address=[0, 1099511627776] : memref<64x64xf32, #nki.sbuf>
  nki.return
}

// -----

// An argument of the kernel that lives on chip.
// CHECK: a kernel's argument lives in HBM, got memref<128x64xf32, #nki.sbuf>
nki.kernel @k(%x: memref<128x64xf32, #nki.sbuf>) target=trn3 { nki.return }

// -----

// An argument of the kernel that is a number.
// CHECK: expected a memref, got f32
nki.kernel @k(%x: f32) target=trn3 { nki.return }

// -----

// A kernel without nki.return.
// CHECK: expects at least a terminator
nki.kernel @k() target=trn3 {}

// -----

// CHECK: is not a terminator
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
}

// -----

// A target that does not exist, in the generic form.
// CHECK: unknown platform target 'trn9'; known: trn1, inf2, gen2, trn2, gen3, trn3, gen4
"nki.kernel"() <{sym_name = "k", target = "trn9"}> ({
  "nki.return"() : () -> ()
}) : () -> ()

// -----

// Two kernels of one name.
// CHECK: Redefinition of symbol "k"
nki.kernel @k() target=trn3 { nki.return }
nki.kernel @k() target=trn3 { nki.return }

// -----

// An operation that no layer knows in a kernel.
// CHECK: arith.addf is not an operation of a kernel
nki.kernel @k() target=trn3 {
  %one = arith.constant 1.0 : f32
  %two = arith.addf %one, %one : f32
  nki.return
}

// -----

// A result on chip.
// CHECK: a kernel returns tensors in HBM, got memref<128x64xf32, #nki.psum>
nki.kernel @k() target=trn3 {
  %tile = nki.alloc : memref<128x64xf32, #nki.psum>
  nki.return %tile
}

// -----

// A return without a kernel.
// CHECK: 'nki.return' ends a nki.kernel or an engine.program
nki.return

// -----

// Two results without a container.
// CHECK: expected at most one value, got 2
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
^bb0(%x: memref<128x64xf32, #nki.private_hbm>):
  "nki.return"(%x, %x) : (memref<128x64xf32, #nki.private_hbm>, memref<128x64xf32, #nki.private_hbm>) -> ()
}) : () -> ()

// -----

// A container that does not exist.
// CHECK: expected a container tuple, list or dict, got set
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  "nki.return"() <{container = "set"}> : () -> ()
}) : () -> ()

// -----

// A dict without keys, a tuple with keys, and a dict with too few of them.
// CHECK: keys go with a dict, and a dict with keys
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  "nki.return"() <{container = "dict"}> : () -> ()
}) : () -> ()

// -----

// CHECK: keys go with a dict, and a dict with keys
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  "nki.return"() <{container = "tuple", keys = []}> : () -> ()
}) : () -> ()

// -----

// CHECK: expected 1 key, got 0
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
^bb0(%x: memref<128x64xf32, #nki.private_hbm>):
  "nki.return"(%x) <{container = "dict", keys = []}> : (memref<128x64xf32, #nki.private_hbm>) -> ()
}) : () -> ()

// -----

// A number cannot be printed on the device.
// CHECK: expected a memref, got f32
"nki.kernel"() <{sym_name = "k", target = "trn3"}> ({
  %one = "arith.constant"() <{value = 1.0 : f32}> : () -> f32
  "nki.device_print"(%one) <{prefix = "one"}> : (f32) -> ()
  "nki.return"() : () -> ()
}) : () -> ()
