// RUN: nkijit list %s | filecheck --match-full-lines %s
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit list %t.mlir | filecheck --match-full-lines %s

// A table stays until another one is loaded.
// CHECK: kernel resident, trn3 (NeuronCore-v4)
// CHECK-NEXT: 8 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 256 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) tables.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 7 instructions
// CHECK-NEXT: 1 LOAD_TABLE table=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 wait(vector>=1) ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 LOAD_TABLE table=tanh tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 5 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=tanh tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 LOAD_TABLE table=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 7 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
nki.kernel @resident() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  nisa.activation dst=%x, op=exp, data=%x
  nisa.activation dst=%x, op=exp, data=%x
  nisa.activation dst=%x, op=tanh, data=%x
  nisa.activation dst=%x, op=exp, data=%x
  nki.return
}

// The only table of a loop is loaded in front of it, and is resident behind it.
// CHECK: kernel hoisted, trn3 (NeuronCore-v4)
// CHECK-NEXT: 5 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 256 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) tables.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 4 instructions
// CHECK-NEXT: 1 LOAD_TABLE table=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: wait(vector>=1) loop i = 0 to 4 step 1 {
// CHECK-NEXT: 2 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-NEXT: 4 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
nki.kernel @hoisted() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
  nisa.activation dst=%x, op=exp, data=%x
  nisa.activation dst=%x, op=exp, data=%x
  }
  nisa.activation dst=%x, op=exp, data=%x
  nki.return
}

// Two tables of a loop take turns in it, and which one is resident behind it is not known.
// CHECK: kernel alternating, trn3 (NeuronCore-v4)
// CHECK-NEXT: 7 instructions, 1 wait, 1 signal
// CHECK-NEXT: SBUF 256 of 245752 bytes per partition, PSUM 0 of 16384
// CHECK-EMPTY:
// CHECK-NEXT: vector: 1 instruction
// CHECK-NEXT: 0 MEMSET dst=x[sbuf 0, 0:128, 1:64, float32], value=0 signal(1) tables.mlir:{{[0-9]+}}
// CHECK-EMPTY:
// CHECK-NEXT: scalar: 6 instructions
// CHECK-NEXT: wait(vector>=1) loop i = 0 to 4 step 1 {
// CHECK-NEXT: 1 LOAD_TABLE table=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 2 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=exp tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 3 LOAD_TABLE table=tanh tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 4 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=tanh tables.mlir:{{[0-9]+}}
// CHECK-NEXT: }
// CHECK-NEXT: 5 LOAD_TABLE table=tanh tables.mlir:{{[0-9]+}}
// CHECK-NEXT: 6 ACTIVATE dst=x[sbuf 0, 0:128, 1:64, float32], data=x[sbuf 0, 0:128, 1:64, float32], op=tanh tables.mlir:{{[0-9]+}}
nki.kernel @alternating() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.memset dst=%x, value=0
  scf.for %i = %c0 to %c4 step %c1 : i32 {
  nisa.activation dst=%x, op=exp, data=%x
  nisa.activation dst=%x, op=tanh, data=%x
  }
  nisa.activation dst=%x, op=tanh, data=%x
  nki.return
}
