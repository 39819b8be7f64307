// RUN: not nkijit-opt -p verify-accumulators %s 2>&1 | filecheck --match-full-lines %s

// verify-accumulators follows the accumulator registers of the Scalar Engine (activation,
// activation_reduce, activate2) and of the Vector Engine (exponential, tensor_scalar_reduce,
// tensor_scalar_cumulative, range_select, select_reduce) along a kernel. It reports where they are
// continued on or read before they are defined, and what is accumulated and never read.

// -------------------- undefined

// Nothing has been reduced yet when the first instruction continues.
// CHECK: error[accumulator-undefined]: nisa.activation: reduce_cmd.reduce continues on the accumulators of the Scalar Engine, which are undefined at the start of a kernel
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce to the first instruction of the reduction
nki.kernel @continue_at_start() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// Nothing has been reduced yet when the first instruction reads the accumulators out.
// CHECK: error[accumulator-undefined]: nisa.activate2: 'reduce_res' reads the accumulators of the Scalar Engine, which are undefined at the start of a kernel
nki.kernel @read_at_start() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_res=%sum
  nki.return
}

// An exponential with idle leaves the Vector Engine's accumulators undefined, which are continued on.
// CHECK: error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined here
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, reduce_cmd=reduce, name="third"
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce, name="first"
// CHECK-NEXT: | {{-+}} accumulated by nisa.exponential 'first'
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, name="second"
// CHECK-NEXT: | {{-+}} clobbered by nisa.exponential 'second'
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce to the first instruction of the reduction
nki.kernel @continue_after_idle() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce, name="first"
  nisa.exponential dst=%x, src=%x, name="second"
  nisa.exponential dst=%x, src=%x, reduce_cmd=reduce, name="third"
  nki.return
}

// The exponential that reads the accumulators out has made them undefined itself.
// CHECK: error[accumulator-undefined]: nisa.exponential: 'reduce_res' reads the accumulators of the Vector Engine, which reduce_cmd.idle leaves undefined
nki.kernel @read_with_idle() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce
  nisa.exponential dst=%x, src=%x, reduce_res=%sum
  nki.return
}

// The engines do not share: a sum of the Scalar Engine is none of the Vector Engine.
// CHECK: error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined at the start of a kernel
nki.kernel @other_engine() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.exponential dst=%x, src=%x, reduce_cmd=reduce
  nki.return
}

// Nothing is left over from the kernel before. What follows a mistake is not reported again.
// CHECK: error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined at the start of a kernel
nki.kernel @once() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=reduce
  nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// -------------------- mixed

// A sum goes on as a maximum.
// CHECK: error[accumulator-mixed]: nisa.activate2: the accumulators of the Scalar Engine hold a reduction with nl.add, this one is nl.maximum
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=maximum, reduce_cmd=reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{-+}} last set by nisa.activate2
// CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce where the new operator begins
nki.kernel @sum_then_maximum() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=maximum, reduce_cmd=reduce
  nki.return
}

// The reset counts with its operator, and across instructions of the same engine.
// CHECK: error[accumulator-mixed]: nisa.activation: the accumulators of the Scalar Engine hold a reduction with nl.minimum, this one is nl.add
nki.kernel @reset_for_minimum() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=minimum, reduce_cmd=reset
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// -------------------- neither

// One reduction over several instructions, read out at its end.
nki.kernel @several_tiles() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// A reset, then a reduction.
nki.kernel @reset_first() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=copy, data=%x, reduce_op=add, reduce_cmd=reset
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// On the Scalar Engine idle leaves the accumulators as they are, so they can be read later.
nki.kernel @idle_keeps() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%x, op=tanh, data=%x
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_res=%sum
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// activation and activate2 share the Scalar Engine's accumulators. activation_reduce always starts
// anew, whatever they held.
nki.kernel @shared() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nisa.activation_reduce dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum
  nki.return
}

// The two engines accumulate beside each other; load_reduce defines the Vector Engine's.
nki.kernel @side_by_side() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=load_reduce, reduce_init=%one
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// Mistakes of every other category, also a command without its operator: not this pass's business.
nki.kernel @other_categories(%far: memref<128x64xf32, #nki.private_hbm>) target=trn2 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %few = nki.alloc : memref<64x64xf32, #nki.sbuf>
  %packed = nki.alloc : memref<128x64x!nki.f8E5M2x4, #nki.sbuf>
  nisa.exponential dst=%x, src=%far
  nisa.activation dst=%few, op=add, data=%packed, reduce_cmd=reduce
  nki.return
}

// Every partition has a register of its own: these 64 were not reset.
// CHECK: error[accumulator-undefined]: nisa.activation: reduce_cmd.reduce continues on the accumulators of the Scalar Engine in lanes 64 to 127, which are undefined at the start of a kernel
// CHECK: {{[0-9]+}} | nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{-+}} nisa.activation begins a reduction in lanes 0 to 63
nki.kernel @other_lanes() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
  %high = nki.view %x offset=4096 pattern=[[64, 64], [1, 64]]
  %sum = nki.alloc : memref<64x1xf32, #nki.sbuf>
  nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nisa.activation dst=%high, op=exp, data=%high, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// Half of the registers hold another reduction.
// CHECK: error[accumulator-mixed]: nisa.activation: the accumulators of the Scalar Engine in lanes 64 to 127 hold a reduction with nl.maximum, this one is nl.add
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%high, op=exp, data=%high, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=maximum, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{-+}} last set by nisa.activate2
// CHECK-NEXT: = the instruction uses lanes 0 to 127
nki.kernel @mixed_lanes() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %high = nki.view %x offset=4096 pattern=[[64, 64], [1, 64]]
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activate2 dst=%high, op=exp, data=%high, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=maximum, reduce_cmd=reset_reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// A running sum leaves its last value, with which another instruction goes on.
nki.kernel @vector_sums() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%x, src=%x, op0=multiply, op1=add, imm0=%one
  nisa.exponential dst=%x, src=%x, reduce_cmd=reduce
  nisa.tensor_scalar_reduce dst=%x, data=%x, op0=add, operand0=%one, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// The Vector Engine's maxima are one reduction; range_select may also reset alone.
nki.kernel @vector_maxima() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %bound = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%x, on_true_tile=%x, comp_op0=greater, comp_op1=less, bound0=%bound, bound1=%bound, reduce_cmd=reset
  nisa.select_reduce dst=%x, predicate=%mask, on_true=%x, on_false=%one, reduce_cmd=reduce
  nisa.tensor_scalar_cumulative dst=%x, src=%x, op0=add, op1=maximum, imm0=%one, reduce_cmd=reduce
  nki.return
}

// What op1 subtracts from is no sum.
// CHECK: error[accumulator-mixed]: nisa.tensor_scalar_reduce: the accumulators of the Vector Engine hold a reduction with nl.subtract, this one is nl.add
nki.kernel @running_difference() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.tensor_scalar_cumulative dst=%x, src=%x, op0=add, op1=subtract, imm0=%one
  nisa.tensor_scalar_reduce dst=%x, data=%x, op0=add, operand0=%one, reduce_op=add, reduce_cmd=reduce
  nki.return
}

// select_reduce is idle by default, which clobbers the accumulators.
// CHECK: error[accumulator-undefined]: nisa.range_select: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined here
nki.kernel @idle_selection() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  %bound = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%x, on_true_tile=%x, comp_op0=greater, comp_op1=less, bound0=%bound, bound1=%bound
  nisa.select_reduce dst=%x, predicate=%mask, on_true=%x, on_false=%one
  nisa.range_select dst=%x, on_true_tile=%x, comp_op0=greater, comp_op1=less, bound0=%bound, bound1=%bound, reduce_cmd=reduce
  nki.return
}

// A range_select that does not reduce has made undefined what it reads out.
// CHECK: error[accumulator-undefined]: nisa.range_select: 'reduce_res' reads the accumulators of the Vector Engine, which reduce_cmd.idle leaves undefined
nki.kernel @read_with_idle_selection() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bound = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%x, on_true_tile=%x, comp_op0=greater, comp_op1=less, bound0=%bound, bound1=%bound, reduce_res=%bound, reduce_cmd=idle
  nki.return
}

// -------------------- lanes

// More lanes are read out than were accumulated.
// CHECK: error[accumulator-undefined]: nisa.activation: 'reduce_res' reads the accumulators of the Scalar Engine in lanes 64 to 127, which are undefined at the start of a kernel
// CHECK: = the instruction uses lanes 0 to 127
nki.kernel @more_lanes_read() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_res=%sum
  nki.return
}

// A fixed address says which lanes work on a tile: these are 64 to 95, and 32 to 95.
// CHECK: error[accumulator-undefined]: nisa.activation: 'reduce_res' reads the accumulators of the Scalar Engine in lanes 32 to 63, which are undefined at the start of a kernel
// CHECK: = the instruction uses lanes 32 to 95
nki.kernel @fixed_address() target=trn3 {
  %low = nki.alloc address=[64, 0] : memref<32x64xf32, #nki.sbuf>
  %wide = nki.alloc address=[32, 256] : memref<64x64xf32, #nki.sbuf>
  %one = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<64x1xf32, #nki.sbuf>
  nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%low, op=exp, data=%low, reduce_res=%one
  nisa.activation dst=%wide, op=exp, data=%wide, reduce_res=%sum
  nki.return
}

// Some of the lanes are read; the others were in the way.
nki.kernel @fewer_lanes_read() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
  %sum = nki.alloc : memref<64x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%low, op=exp, data=%low, reduce_res=%sum
  nki.return
}

// -------------------- resumed

// The sum of the lanes 64 to 95 has been read out. The next one begins in the lanes 0 to 31, and what
// is meant to continue it continues the old one.
// CHECK: warning[accumulator-resumed]: nisa.exponential: reduce_cmd.reduce continues the reduction in lanes 64 to 95 of the Vector Engine, which has been read out, and not the one that began last
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%high, src=%high, reduce_res=%sum, reduce_cmd=reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%high, src=%high, reduce_res=%old, reduce_cmd=reset_reduce, name="old"
// CHECK-NEXT: | {{-+}} last set by nisa.exponential 'old'
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%low, src=%low, reduce_cmd=reset_reduce, name="new"
// CHECK-NEXT: | {{-+}} nisa.exponential 'new' begins a reduction in lanes 0 to 31
// CHECK-NEXT: = help: give all instructions of a reduction the same partitions, or begin with reduce_cmd=nisa.reduce_cmd.reset_reduce
nki.kernel @resumed() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 32], [1, 64]]
  %high = nki.view %x offset=4096 pattern=[[64, 32], [1, 64]]
  %old = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<32x1xf32, #nki.sbuf>
  nisa.exponential dst=%high, src=%high, reduce_res=%old, reduce_cmd=reset_reduce, name="old"
  nisa.exponential dst=%low, src=%low, reduce_cmd=reset_reduce, name="new"
  nisa.exponential dst=%high, src=%high, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// A reduction of all lanes has been read out, another one has begun in some of them: what goes on with
// both in one instruction, or with what is left of the first, is meant for the second.
// CHECK: warning[accumulator-resumed]: nisa.activation: reduce_cmd.reduce continues the reduction in lanes 32 to 63 of the Scalar Engine, which has been read out, and not the one that began last
// CHECK: | {{-+}} last set by nisa.activation 'all'
// CHECK: | {{-+}} read out by nisa.activation 'read'
// CHECK: | {{-+}} nisa.activation 'new' begins a reduction in lanes 0 to 31
// CHECK-NEXT: = the instruction uses lanes 0 to 63
nki.kernel @resumed_in_part() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 32], [1, 64]]
  %half = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
  %old = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %sum = nki.alloc : memref<64x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce, name="all"
  nisa.activation dst=%x, op=exp, data=%x, reduce_res=%old, name="read"
  nisa.activation dst=%low, op=exp, data=%low, reduce_op=add, reduce_cmd=reset_reduce, name="new"
  nisa.activation dst=%half, op=exp, data=%half, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// Two reductions that go on in turn, each in lanes of its own, read out every time.
nki.kernel @in_turn() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 32], [1, 64]]
  %high = nki.view %x offset=4096 pattern=[[64, 32], [1, 64]]
  %a = nki.alloc : memref<32x4xf32, #nki.sbuf>
  %a0 = nki.view %a offset=0 pattern=[[4, 32], [1, 1]]
  %a1 = nki.view %a offset=1 pattern=[[4, 32], [1, 1]]
  %a2 = nki.view %a offset=2 pattern=[[4, 32], [1, 1]]
  %a3 = nki.view %a offset=3 pattern=[[4, 32], [1, 1]]
  nisa.exponential dst=%low, src=%low, reduce_res=%a0, reduce_cmd=reset_reduce
  nisa.exponential dst=%high, src=%high, reduce_res=%a1, reduce_cmd=reset_reduce
  nisa.exponential dst=%low, src=%low, reduce_res=%a2, reduce_cmd=reduce
  nisa.exponential dst=%high, src=%high, reduce_res=%a3, reduce_cmd=reduce
  nki.return
}

// A running sum that is read to the same place, beside a reduction that is complete at once; and one
// that has not been read out when another one begins.
nki.kernel @running_sum() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 32], [1, 64]]
  %high = nki.view %x offset=4096 pattern=[[64, 32], [1, 64]]
  %a = nki.alloc : memref<32x1xf32, #nki.sbuf>
  %b = nki.alloc : memref<32x1xf32, #nki.sbuf>
  nisa.exponential dst=%low, src=%low, reduce_res=%a, reduce_cmd=reset_reduce
  nisa.exponential dst=%high, src=%high, reduce_res=%b, reduce_cmd=reset_reduce
  nisa.exponential dst=%low, src=%low, reduce_res=%a, reduce_cmd=reduce
  nisa.exponential dst=%low, src=%low, reduce_cmd=reset_reduce
  nisa.exponential dst=%high, src=%high, reduce_res=%b, reduce_cmd=reset_reduce
  nisa.exponential dst=%low, src=%low, reduce_res=%b, reduce_cmd=reduce
  nki.return
}

// Neither reduction has been read out; the second one never is.
// CHECK: warning[accumulator-lost]: nisa.exponential: what it accumulates in the Vector Engine in lanes 0 to 31 is never read out
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%low, src=%low, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%high, src=%high, reduce_res=%sum, reduce_cmd=reduce
// CHECK-NEXT: | {{-+}} nisa.exponential continues an earlier reduction in lanes 64 to 95
// CHECK-NEXT: = unread at the end of the kernel
nki.kernel @lost_to_other_lanes() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %low = nki.view %x offset=0 pattern=[[64, 32], [1, 64]]
  %high = nki.view %x offset=4096 pattern=[[64, 32], [1, 64]]
  %sum = nki.alloc : memref<32x1xf32, #nki.sbuf>
  nisa.exponential dst=%high, src=%high, reduce_cmd=reset_reduce
  nisa.exponential dst=%low, src=%low, reduce_cmd=reset_reduce
  nisa.exponential dst=%high, src=%high, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// -------------------- lost

// The sum is still in the accumulators when the kernel ends. Only the last instruction of a
// reduction is told.
// CHECK: warning[accumulator-lost]: nisa.activation: what it accumulates in the Scalar Engine is never read out
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce, name="last"
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: = unread at the end of the kernel
// CHECK-NEXT: = help: continue the reduction with reduce_cmd=nisa.reduce_cmd.reduce, pass reduce_res= to its last instruction, or do not reduce
nki.kernel @unread() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce, name="last"
  nki.return
}

// The next reduction starts before the first one is read; it is of the same engine, the third is not.
// CHECK: warning[accumulator-lost]: nisa.activation: what it accumulates in the Scalar Engine is never read out
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce, name="next"
// CHECK-NEXT: | {{-+}} reset by nisa.activate2 'next'
nki.kernel @reset_too_early() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reset_reduce
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reset_reduce, name="next"
  nki.return
}

// A selection without a reduction clobbers a sum that nothing has read.
// CHECK: warning[accumulator-lost]: nisa.exponential: what it accumulates in the Vector Engine is never read out
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.select_reduce dst=%x, predicate=%mask, on_true=%x, on_false=%one
// CHECK-NEXT: | {{-+}} clobbered by nisa.select_reduce
nki.kernel @clobbered() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce
  nisa.select_reduce dst=%x, predicate=%mask, on_true=%x, on_false=%one
  nki.return
}

// range_select reduces by default, which is no wish of the author's; a running sum is in dst.
nki.kernel @not_asked_for() target=trn3 {
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %bound = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.range_select dst=%x, on_true_tile=%x, comp_op0=greater, comp_op1=less, bound0=%bound, bound1=%bound
  nisa.tensor_scalar_cumulative dst=%x, src=%x, op0=multiply, op1=add, imm0=%one
  nki.return
}

// -------------------- activation_reduce

// activation goes on with the sum of an activation_reduce.
// CHECK: warning[accumulator-shared]: nisa.activation: goes on with what nisa.activation_reduce has accumulated
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation_reduce dst=%x, op=exp, data=%x, reduce_op=add, name="first"
// CHECK-NEXT: | {{-+}} last set by nisa.activation_reduce 'first'
// CHECK-NEXT: = help: begin the reduction with the instruction that continues it, and reduce_cmd=nisa.reduce_cmd.reset_reduce
nki.kernel @goes_on_with_another() target=trn3 {
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation_reduce dst=%x, op=exp, data=%x, reduce_op=add, name="first"
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// -------------------- loops

// The first iteration continues on nothing.
// CHECK: error[accumulator-undefined]: nisa.activation: reduce_cmd.reduce continues on the accumulators of the Scalar Engine, which are undefined at the start of a kernel
// Behind the loop they are defined if an iteration has run.
// CHECK: warning[accumulator-undefined]: nisa.activation: 'reduce_res' reads the accumulators of the Scalar Engine, which may be undefined here
nki.kernel @first_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %n = nki.register
  nisa.register_move dst=%n, src=%c1
  %count = nki.read %n
  scf.for %i = %c0 to %count step %c1 : i32 {
    nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
  }
  nisa.activation dst=%x, op=exp, data=%x, reduce_res=%sum
  nki.return
}

// The second iteration finds what the end of the first has clobbered; four are sure to run.
// CHECK: error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined here
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce, name="sum"
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce, name="sum"
// CHECK-NEXT: | {{-+}} accumulated by nisa.exponential 'sum'
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.exponential dst=%x, src=%x, name="clobber"
// CHECK-NEXT: | {{-+}} clobbered by nisa.exponential 'clobber'
nki.kernel @second_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce, name="sum"
    nisa.exponential dst=%x, src=%x, name="clobber"
  }
  nki.return
}

// The same, but it may be that one iteration runs at most.
// CHECK: warning[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which may be undefined here
// CHECK: = it depends on how often loops on the device run
nki.kernel @unknown_count() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %n = nki.register
  nisa.register_move dst=%n, src=%c1
  %count = nki.read %n
  nisa.exponential dst=%x, src=%x, reduce_cmd=reset_reduce
  scf.for %i = %c0 to %count step %c1 : i32 {
    nisa.exponential dst=%x, src=%x, reduce_res=%sum, reduce_cmd=reduce
    nisa.exponential dst=%x, src=%x
  }
  nki.return
}

// Where no iteration runs, nothing is to read behind the loop.
// CHECK: warning[accumulator-undefined]: nisa.activation: 'reduce_res' reads the accumulators of the Scalar Engine, which may be undefined here
nki.kernel @no_iteration() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %n = nki.register
  nisa.register_move dst=%n, src=%c1
  scf.while () : () -> () {
    %left = nki.read %n
    %test = arith.cmpi ne, %left, %c0 : i32
    scf.condition(%test)
  } do {
    nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
    nisa.register_move dst=%n, src=%c0
    scf.yield
  }
  nisa.activation dst=%x, op=exp, data=%x, reduce_res=%sum
  nki.return
}

// A maximum on one path, a sum on the other.
// CHECK: warning[accumulator-mixed]: nisa.activate2: the accumulators of the Scalar Engine may hold a reduction with nl.maximum, this one is nl.add
nki.kernel @mixed_paths() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %n = nki.register
  nisa.register_move dst=%n, src=%c1
  %count = nki.read %n
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  scf.for %i = %c0 to %count step %c1 : i32 {
    nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=maximum, reduce_res=%sum, reduce_cmd=reset_reduce
  }
  nisa.activate2 dst=%x, op=exp, data=%x, imm0=%one, imm1=%one, op0=multiply, op1=add, reduce_op=add, reduce_res=%sum, reduce_cmd=reduce
  nki.return
}

// Each iteration starts anew and the last one is read: what the others have accumulated goes, but
// is not known to be missed.
nki.kernel @read_behind_the_loop() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
  nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
    nki.no_reorder {
      nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reduce
    }
  }
  nisa.activation dst=%x, op=exp, data=%x, reduce_res=%sum
  nki.return
}

// What an iteration accumulates is gone with the next one, and nothing reads the last.
// CHECK: warning[accumulator-lost]: nisa.activation: what it accumulates in the Scalar Engine is never read out
// CHECK-NEXT: --> {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{\^+}}
// CHECK-NEXT: ::: {{.*}}verify-accumulators.mlir:{{.*}}
// CHECK-NEXT: |
// CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
// CHECK-NEXT: | {{-+}} reset by nisa.activation
nki.kernel @lost_in_a_loop() target=trn3 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %x = nki.alloc : memref<128x64xf32, #nki.sbuf>
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    nisa.activation dst=%x, op=exp, data=%x, reduce_op=add, reduce_cmd=reset_reduce
  }
  nki.return
}

// CHECK: 17 errors and 12 warnings
