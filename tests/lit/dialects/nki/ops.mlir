// RUN: %roundtrip
// RUN: xdsl-opt %s | filecheck --match-full-lines %s

// The text of kernels, allocations, views and constants: parsed, printed, and parsed again.

// Every platform name is kept as it was written.
// CHECK-LABEL: nki.kernel @trn1() target=trn1 {
nki.kernel @trn1() target=trn1 { nki.return }
// CHECK: nki.kernel @inf2() target=inf2 {
nki.kernel @inf2() target=inf2 { nki.return }
// CHECK: nki.kernel @gen2() target=gen2 {
nki.kernel @gen2() target=gen2 { nki.return }
// CHECK: nki.kernel @trn2() target=trn2 {
nki.kernel @trn2() target=trn2 { nki.return }
// CHECK: nki.kernel @gen3() target=gen3 {
nki.kernel @gen3() target=gen3 { nki.return }
// CHECK: nki.kernel @trn3() target=trn3 {
nki.kernel @trn3() target=trn3 { nki.return }
// CHECK: nki.kernel @gen4() target=gen4 {
nki.kernel @gen4() target=gen4 { nki.return }

// A name that is no identifier is quoted; attributes come behind the target.
// CHECK-LABEL: nki.kernel @"a-b c"() target=trn3 attributes {origin = "a test"} {
nki.kernel @"a-b c"() target=trn3 attributes {origin = "a test"} { nki.return }

// Arguments are tensors in HBM, private or shared; all their names are kept.
// CHECK-LABEL: nki.kernel @arguments(%x: memref<128x64xf32, #nki.private_hbm>, %y.z: memref<7xbf16, #nki.shared_hbm>) target=trn3 {
nki.kernel @arguments(%x: memref<128x64xf32, #nki.private_hbm>, %y.z: memref<7xbf16, #nki.shared_hbm>) target=trn3 {
  // CHECK-NEXT: nki.return
  nki.return
}

// Two values of one name are told apart.
// CHECK-LABEL: nki.kernel @names() target=trn3 {
nki.kernel @names() target=trn3 {
  // CHECK-NEXT: %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %x_1 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x_1 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %0 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %5 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @alloc() target=trn3 {
nki.kernel @alloc() target=trn3 {
  // Each buffer.
  // CHECK-NEXT: %sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %psum = nki.alloc : memref<128x64xf32, #nki.psum>
  %psum = nki.alloc : memref<128x64xf32, #nki.psum>
  // CHECK-NEXT: %private = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  %private = nki.alloc : memref<128x64xf32, #nki.private_hbm>
  // CHECK-NEXT: %shared = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %shared = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // A name of the author's, a fixed address, and both.
  // CHECK-NEXT: %named = nki.alloc name="running sum" : memref<128x64xf32, #nki.sbuf>
  %named = nki.alloc name="running sum" : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %fixed = nki.alloc address=[64, 1024] : memref<64x64xf32, #nki.sbuf>
  %fixed = nki.alloc address=[64, 1024] : memref<64x64xf32, #nki.sbuf>
  // CHECK-NEXT: %both = nki.alloc name="\22" address=[0, 0] : memref<128x64xf32, #nki.psum>
  %both = nki.alloc name="\"" address=[0, 0] : memref<128x64xf32, #nki.psum>
  // One dimension, and many.
  // CHECK-NEXT: %flat = nki.alloc : memref<1048576xf32, #nki.private_hbm>
  %flat = nki.alloc : memref<1048576xf32, #nki.private_hbm>
  // CHECK-NEXT: %deep = nki.alloc : memref<128x2x1x3x1x4xf32, #nki.sbuf>
  %deep = nki.alloc : memref<128x2x1x3x1x4xf32, #nki.sbuf>
  // CHECK-NEXT: nki.return
  nki.return
}

// Every data type.
// CHECK-LABEL: nki.kernel @dtypes() target=trn3 {
nki.kernel @dtypes() target=trn3 {
  // CHECK-NEXT: %bool = nki.alloc : memref<128x64xi1, #nki.sbuf>
  %bool = nki.alloc : memref<128x64xi1, #nki.sbuf>
  // CHECK-NEXT: %int8 = nki.alloc : memref<128x64xi8, #nki.sbuf>
  %int8 = nki.alloc : memref<128x64xi8, #nki.sbuf>
  // CHECK-NEXT: %int16 = nki.alloc : memref<128x64xi16, #nki.sbuf>
  %int16 = nki.alloc : memref<128x64xi16, #nki.sbuf>
  // CHECK-NEXT: %int32 = nki.alloc : memref<128x64xi32, #nki.sbuf>
  %int32 = nki.alloc : memref<128x64xi32, #nki.sbuf>
  // CHECK-NEXT: %uint8 = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %uint8 = nki.alloc : memref<128x64xui8, #nki.sbuf>
  // CHECK-NEXT: %uint16 = nki.alloc : memref<128x64xui16, #nki.sbuf>
  %uint16 = nki.alloc : memref<128x64xui16, #nki.sbuf>
  // CHECK-NEXT: %uint32 = nki.alloc : memref<128x64xui32, #nki.sbuf>
  %uint32 = nki.alloc : memref<128x64xui32, #nki.sbuf>
  // CHECK-NEXT: %float32 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %float32 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %tfloat32 = nki.alloc : memref<128x64xtf32, #nki.sbuf>
  %tfloat32 = nki.alloc : memref<128x64xtf32, #nki.sbuf>
  // CHECK-NEXT: %float16 = nki.alloc : memref<128x64xf16, #nki.sbuf>
  %float16 = nki.alloc : memref<128x64xf16, #nki.sbuf>
  // CHECK-NEXT: %bfloat16 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  %bfloat16 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
  // CHECK-NEXT: %float8_e4m3 = nki.alloc : memref<128x64xf8E4M3, #nki.sbuf>
  %float8_e4m3 = nki.alloc : memref<128x64xf8E4M3, #nki.sbuf>
  // CHECK-NEXT: %float8_e4m3fn = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  %float8_e4m3fn = nki.alloc : memref<128x64xf8E4M3FN, #nki.sbuf>
  // CHECK-NEXT: %float8_e5m2 = nki.alloc : memref<128x64xf8E5M2, #nki.sbuf>
  %float8_e5m2 = nki.alloc : memref<128x64xf8E5M2, #nki.sbuf>
  // CHECK-NEXT: %float8_e8m0fnu = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  %float8_e8m0fnu = nki.alloc : memref<128x64xf8E8M0FNU, #nki.sbuf>
  // CHECK-NEXT: %float8_e5m2_x4 = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  %float8_e5m2_x4 = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  // CHECK-NEXT: %float8_e4m3fn_x4 = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  %float8_e4m3fn_x4 = nki.alloc : memref<128x64x!nki.f8E4M3FNx4, #nki.sbuf>
  // CHECK-NEXT: %float4_e2m1fn_x4 = nki.alloc : memref<128x64x!nki.f4E2M1FNx4, #nki.sbuf>
  %float4_e2m1fn_x4 = nki.alloc : memref<128x64x!nki.f4E2M1FNx4, #nki.sbuf>
  // CHECK-NEXT: nki.return
  nki.return
}

// A view is an offset and [stride, count] pairs over the allocation.
// CHECK-LABEL: nki.kernel @views(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @views(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // Half of the partitions, a quarter of the columns.
  // CHECK-NEXT: %block = nki.view %tile offset=4112 pattern=[[64, 64], [1, 16]]
  %block = nki.view %tile offset=4112 pattern=[[64, 64], [1, 16]]
  // Every third column.
  // CHECK-NEXT: %stepped = nki.view %tile offset=0 pattern=[[64, 128], [3, 22]]
  %stepped = nki.view %tile offset=0 pattern=[[64, 128], [3, 22]]
  // Columns in reverse, and repeated.
  // CHECK-NEXT: %reversed = nki.view %tile offset=63 pattern=[[64, 128], [-1, 64]]
  %reversed = nki.view %tile offset=63 pattern=[[64, 128], [-1, 64]]
  // CHECK-NEXT: %repeated = nki.view %tile offset=5 pattern=[[64, 128], [0, 8], [1, 2]]
  %repeated = nki.view %tile offset=5 pattern=[[64, 128], [0, 8], [1, 2]]
  // In HBM the dimensions may swap places; no dimension is special there.
  // CHECK-NEXT: %transposed = nki.view %x offset=0 pattern=[[1, 64], [64, 128]]
  %transposed = nki.view %x offset=0 pattern=[[1, 64], [64, 128]]
  // CHECK-NEXT: %row = nki.view %x offset=640 pattern=[[1, 64]]
  %row = nki.view %x offset=640 pattern=[[1, 64]]
  // The same bits as another data type of the same width, of half and of twice the width.
  // CHECK-NEXT: %bits = nki.view %tile offset=0 pattern=[[64, 128], [1, 64]] as i32
  %bits = nki.view %tile offset=0 pattern=[[64, 128], [1, 64]] as i32
  // CHECK-NEXT: %halves = nki.view %tile offset=1 pattern=[[128, 128], [2, 64]] as bf16
  %halves = nki.view %tile offset=1 pattern=[[128, 128], [2, 64]] as bf16
  // CHECK-NEXT: %bytes = nki.alloc : memref<128x64xui8, #nki.psum>
  %bytes = nki.alloc : memref<128x64xui8, #nki.psum>
  // CHECK-NEXT: %packed = nki.view %bytes offset=0 pattern=[[16, 128], [1, 16]] as !nki.f8E5M2x4
  %packed = nki.view %bytes offset=0 pattern=[[16, 128], [1, 16]] as !nki.f8E5M2x4
  // CHECK-NEXT: nki.return
  nki.return
}

// Numbers for scalar operands. Decimals where they read back exactly, else bits.
// CHECK-LABEL: nki.kernel @constants() target=trn3 {
nki.kernel @constants() target=trn3 {
  // CHECK-NEXT: %zero = arith.constant 0 : i32
  %zero = arith.constant 0 : i32
  // CHECK-NEXT: %least = arith.constant -2147483648 : i32
  %least = arith.constant -2147483648 : i32
  // CHECK-NEXT: %wide = arith.constant 4294967295 : i64
  %wide = arith.constant 4294967295 : i64
  // CHECK-NEXT: %two = arith.constant 2.000000e+00 : f32
  %two = arith.constant 2.0 : f32
  // CHECK-NEXT: %negative_zero = arith.constant -0.000000e+00 : f32
  %negative_zero = arith.constant -0.0 : f32
  // CHECK-NEXT: %tenth = arith.constant 1.000000e-01 : f32
  %tenth = arith.constant 0.1 : f32
  // CHECK-NEXT: %pi = arith.constant 3.14159274 : f32
  %pi = arith.constant 3.14159265358979 : f32
  // CHECK-NEXT: %largest = arith.constant 3.40282347e+38 : f32
  %largest = arith.constant 3.40282347e38 : f32
  // CHECK-NEXT: %smallest = arith.constant 1.401300e-45 : f32
  %smallest = arith.constant 0x00000001 : f32
  // CHECK-NEXT: %inf = arith.constant 0x7f800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  // CHECK-NEXT: %negative_inf = arith.constant 0xff800000 : f32
  %negative_inf = arith.constant 0xFF800000 : f32
  // CHECK-NEXT: %nan = arith.constant 0x7fc00000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  // CHECK-NEXT: nki.return
  nki.return
}

// CHECK-LABEL: nki.kernel @device_print(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @device_print(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: nki.device_print "x = ", %x
  nki.device_print "x = ", %x
  // CHECK-NEXT: %row = nki.view %x offset=0 pattern=[[1, 64]]
  %row = nki.view %x offset=0 pattern=[[1, 64]]
  // CHECK-NEXT: nki.device_print "", %row
  nki.device_print "", %row
  // CHECK-NEXT: nki.return
  nki.return
}

// What a kernel returns: one tensor, or a tuple, a list or a dict of them, of any length.
// CHECK-LABEL: nki.kernel @return_one(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @return_one(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: nki.return %x
  nki.return %x
}

// CHECK-LABEL: nki.kernel @return_tuple(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @return_tuple(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: %out = nki.alloc : memref<1x1xf32, #nki.shared_hbm>
  %out = nki.alloc : memref<1x1xf32, #nki.shared_hbm>
  // CHECK-NEXT: nki.return (%x, %out)
  nki.return (%x, %out)
}

// CHECK-LABEL: nki.kernel @return_tuple_of_one(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @return_tuple_of_one(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: nki.return (%x)
  nki.return (%x)
}

// CHECK-LABEL: nki.kernel @return_list(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @return_list(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: nki.return [%x, %x]
  nki.return [%x, %x]
}

// CHECK-LABEL: nki.kernel @return_dict(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @return_dict(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: nki.return {"x": %x, "the same": %x}
  nki.return {"x": %x, "the same": %x}
}

// CHECK-LABEL: nki.kernel @return_no_tuple() target=trn3 {
nki.kernel @return_no_tuple() target=trn3 {
  // CHECK-NEXT: nki.return ()
  nki.return ()
}

// CHECK-LABEL: nki.kernel @return_no_list() target=trn3 {
nki.kernel @return_no_list() target=trn3 {
  // CHECK-NEXT: nki.return []
  nki.return []
}

// CHECK-LABEL: nki.kernel @return_no_dict() target=trn3 {
nki.kernel @return_no_dict() target=trn3 {
  // CHECK-NEXT: nki.return {}
  nki.return {}
}

// A view may leave its allocation; that it does is a finding.
// CHECK-LABEL: nki.kernel @beyond(%x: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
nki.kernel @beyond(%x: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
  // CHECK-NEXT: %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: %a = nki.view %tile offset=-3 pattern=[[64, 128], [1, 80]]
  %a = nki.view %tile offset=-3 pattern=[[64, 128], [1, 80]]
  // CHECK-NEXT: %b = nki.view %x offset=4000 pattern=[[1, 128]]
  %b = nki.view %x offset=4000 pattern=[[1, 128]]
  nki.return
}
