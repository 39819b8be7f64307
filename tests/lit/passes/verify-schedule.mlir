// RUN: not nkijit-opt -p verify-schedule %s 2>&1 | filecheck %s

// Edges that the author adds between instructions (after=[...]).

// Edges along the program, and against it between instructions that do not need each other.
// CHECK-NOT: error{{.*}}free
nki.kernel @kept() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="free-first", after=["free-second"]
  nisa.memset dst=%b, value=0.0, name="free-second"
  nisa.reciprocal dst=%b, data=%b, name="free-third", after=["free-first", "free-second"]
  nki.return
}

// CHECK: error[schedule-name]: nisa.memset: runs after 'nobody', a name that no instruction has
// CHECK: error[schedule-name]: nisa.memset: runs after 'twin', a name that 2 instructions have
nki.kernel @names() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="twin"
  nisa.memset dst=%a, value=0.0, name="twin"
  nisa.memset dst=%a, value=0.0, after=["nobody", "twin"]
  nki.return
}

// CHECK: error[schedule-cycle]: nisa.memset: the edges form a cycle: 'p' after 'q' after 'p'
// CHECK-NEXT: --> {{.*}}verify-schedule.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%b, value=0.0, name="q", after=["p"]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-schedule.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%a, value=0.0, name="p", after=["q"]
// CHECK-NEXT: | {{-+}} 'p'
nki.kernel @cycle() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="p", after=["q"]
  nisa.memset dst=%b, value=0.0, name="q", after=["p"]
  nki.return
}

// An instruction cannot run after itself.
// CHECK: error[schedule-cycle]: nisa.memset: the edges form a cycle: 'self' after 'self'
nki.kernel @itself() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="self", after=["self"]
  nki.return
}

// What an instruction reads, by way of a third one, is written by one that is to run after it.
// CHECK: error[schedule-cycle]: nisa.memset: runs after 'reader', which needs what this instruction does
// CHECK-NEXT: --> {{.*}}verify-schedule.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.memset dst=%a, value=0.0, after=["reader"]
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-schedule.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.reciprocal dst=%b, data=%b, name="reader"
// CHECK-NEXT: | {{-+}} 'reader'
nki.kernel @data() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, after=["reader"]
  nisa.reciprocal dst=%b, data=%a
  nisa.reciprocal dst=%b, data=%b, name="reader"
  nki.return
}

// What is needed has an edge of its own, and that leads further down.
// CHECK: error[schedule-cycle]: nisa.memset: runs after 'far', which needs what this instruction does
// CHECK: error[schedule-cycle]: nisa.memset: runs after 'near', which needs what this instruction does
nki.kernel @chain() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %c = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="first", after=["far"]
  nisa.memset dst=%b, value=0.0, name="far", after=["near"]
  nisa.reciprocal dst=%c, data=%a, name="near"
  nki.return
}

// A loop stays together, so what is behind it cannot run in front of a part of it.
// CHECK: error[schedule-cycle]: nisa.memset: runs after 'behind', which needs what this instruction does
// CHECK: the instruction is in a loop that runs as a whole
nki.kernel @around() target=trn3 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %c = nki.alloc : memref<4x8xf32, #nki.sbuf>
  scf.for %i = %zero to %one step %one : i32 {
    nisa.memset dst=%a, value=0.0
    nisa.memset dst=%b, value=0.0, after=["behind"]
  }
  nisa.reciprocal dst=%c, data=%a, name="behind"
  nki.return
}

// In a block that keeps its order every instruction runs after the one before.
// CHECK: error[schedule-cycle]: nisa.memset: the edges form a cycle: 'kept-first' after 'kept-second' after 'kept-first'
nki.kernel @block() target=trn3 {
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  %b = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nki.no_reorder {
    nisa.memset dst=%a, value=0.0, name="kept-first", after=["kept-second"]
    nisa.memset dst=%b, value=0.0, name="kept-second"
  }
  nki.return
}

// Out of a loop on the device, and into another one.
// CHECK: error[schedule-loop]: nisa.reciprocal: runs after 'inside', which is in a loop on the device that this is not in
// CHECK: error[schedule-loop]: nisa.reciprocal: runs after 'inside', which is in a loop on the device that this is not in
// CHECK: 11 errors
nki.kernel @loops() target=trn3 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>
  nisa.memset dst=%a, value=0.0, name="outside"
  scf.for %i = %zero to %one step %one : i32 {
    nisa.reciprocal dst=%a, data=%a, name="inside", after=["outside"]
    nisa.reciprocal dst=%a, data=%a, after=["inside"]
  }
  nisa.reciprocal dst=%a, data=%a, after=["inside"]
  scf.for %j = %zero to %one step %one : i32 {
    nisa.reciprocal dst=%a, data=%a, after=["inside"]
  }
  nki.return
}
