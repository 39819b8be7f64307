// RUN: not nkijit verify -p verify-instructions %s > %t
// RUN: filecheck --match-full-lines %s < %t

// Collectives: what the rules forbid. A kernel here breaks one rule; where it cannot break one
// alone, its comment says so. The kernel of the same name in valid.mlir differs in that one thing
// and is silent.

// -------------------- ncc.all_reduce

// In PSUM; some in SBUF and some in HBM.
// CHECK: error[collective-buffer]: ncc.all_reduce: 'srcs' lives in psum
// CHECK: error[collective-buffer]: ncc.all_reduce: 'srcs' lives in sbuf, 'dsts' lives in private_hbm
nki.kernel @all_reduce_buffer() target=trn3 {
  %p = nki.alloc : memref<4x64xf32, #nki.psum>
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%p], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_reduce srcs=[%b], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// Two free dimensions in SBUF.
// CHECK: error[collective-sbuf-dims]: ncc.all_reduce: 'srcs' in SBUF has 3 dimensions
nki.kernel @all_reduce_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// Two tensors in SBUF.
// CHECK: error[collective-coalesced]: ncc.all_reduce: takes one tensor in SBUF, there are 2
nki.kernel @all_reduce_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_reduce srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// A source without a destination.
// CHECK: error[collective-lists]: ncc.all_reduce: the lists of tensors differ in length: 'srcs' has 2, 'dsts' has 1
nki.kernel @all_reduce_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s, %s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.all_reduce: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_reduce_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.all_reduce: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_reduce_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.all_reduce: 'priority' must be 0 to 3, it is 4
nki.kernel @all_reduce_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add, priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.all_reduce: a group has no ranks
// CHECK: error[collective-group]: ncc.all_reduce: rank -1 is negative
// CHECK: error[collective-group]: ncc.all_reduce: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.all_reduce: the groups differ in size
nki.kernel @all_reduce_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[], op=add
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[]], op=add
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, -1]], op=add
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [1, 2]], op=add
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2]], op=add
  nki.return
}

// Not an operator of collectives.
// CHECK: error[collective-operator]: ncc.all_reduce: 'op' is nl.multiply
nki.kernel @all_reduce_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=multiply
  nki.return
}

// A destination of another shape.
// CHECK: error[collective-shape]: ncc.all_reduce: 'dsts' has shape (2, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (4, 64)
nki.kernel @all_reduce_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.all_reduce srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], op=add
  nki.return
}

// -------------------- ncc.all_gather

// In PSUM; some in SBUF and some in HBM.
// CHECK: error[collective-buffer]: ncc.all_gather: 'srcs' lives in psum
// CHECK: error[collective-buffer]: ncc.all_gather: 'srcs' lives in sbuf, 'dsts' lives in private_hbm
nki.kernel @all_gather_buffer() target=trn3 {
  %p = nki.alloc : memref<4x64xf32, #nki.psum>
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%p], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_gather srcs=[%b], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// Two free dimensions in SBUF.
// CHECK: error[collective-sbuf-dims]: ncc.all_gather: 'srcs' in SBUF has 3 dimensions
nki.kernel @all_gather_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  %d = nki.alloc : memref<8x8x8xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// Two tensors in SBUF.
// CHECK: error[collective-coalesced]: ncc.all_gather: takes one tensor in SBUF, there are 2
nki.kernel @all_gather_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<8x64xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// A source without a destination.
// CHECK: error[collective-lists]: ncc.all_gather: the lists of tensors differ in length: 'srcs' has 2, 'dsts' has 1
nki.kernel @all_gather_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s, %s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.all_gather: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_gather_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xbf16, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.all_gather: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_gather_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.all_gather: 'priority' must be 0 to 3, it is 4
nki.kernel @all_gather_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.all_gather: a group has no ranks
// CHECK: error[collective-group]: ncc.all_gather: rank -1 is negative
// CHECK: error[collective-group]: ncc.all_gather: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.all_gather: the groups differ in size
nki.kernel @all_gather_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[], collective_dim=0
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[]], collective_dim=0
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, -1]], collective_dim=0
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [1, 2]], collective_dim=0
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2]], collective_dim=0
  nki.return
}

// Dim 1 in HBM, whose shape is wrong then as well; dim 2 in SBUF.
// CHECK: error[collective-dim]: ncc.all_gather: 'collective_dim' is 1, in HBM it is 0
// CHECK: error[collective-shape]: ncc.all_gather: 'dsts' has shape (8, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (4, 128)
// CHECK: error[collective-dim]: ncc.all_gather: 'collective_dim' is 2, in SBUF it is 0 or 1
nki.kernel @all_gather_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<8x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=1
  %s2 = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d2 = nki.alloc : memref<8x64xf32, #nki.sbuf>
  ncc.all_gather srcs=[%s2], dsts=[%d2], replica_group=[[0, 1], [2, 3]], collective_dim=2
  nki.return
}

// A destination of another shape.
// CHECK: error[collective-shape]: ncc.all_gather: 'dsts' has shape (2, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (8, 64)
nki.kernel @all_gather_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.all_gather srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// -------------------- ncc.reduce_scatter

// In PSUM; some in SBUF and some in HBM.
// CHECK: error[collective-buffer]: ncc.reduce_scatter: 'srcs' lives in psum
// CHECK: error[collective-buffer]: ncc.reduce_scatter: 'srcs' lives in sbuf, 'dsts' lives in private_hbm
nki.kernel @reduce_scatter_buffer() target=trn3 {
  %p = nki.alloc : memref<4x64xf32, #nki.psum>
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%p], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.reduce_scatter srcs=[%b], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// Two free dimensions in SBUF.
// CHECK: error[collective-sbuf-dims]: ncc.reduce_scatter: 'srcs' in SBUF has 3 dimensions
nki.kernel @reduce_scatter_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  %d = nki.alloc : memref<2x8x8xf32, #nki.sbuf>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// Two tensors in SBUF.
// CHECK: error[collective-coalesced]: ncc.reduce_scatter: takes one tensor in SBUF, there are 2
nki.kernel @reduce_scatter_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<2x64xf32, #nki.sbuf>
  ncc.reduce_scatter srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// A source without a destination.
// CHECK: error[collective-lists]: ncc.reduce_scatter: the lists of tensors differ in length: 'srcs' has 2, 'dsts' has 1
nki.kernel @reduce_scatter_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s, %s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.reduce_scatter: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @reduce_scatter_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xbf16, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.reduce_scatter: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @reduce_scatter_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.reduce_scatter: 'priority' must be 0 to 3, it is 4
nki.kernel @reduce_scatter_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add, priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.reduce_scatter: a group has no ranks
// CHECK: error[collective-group]: ncc.reduce_scatter: rank -1 is negative
// CHECK: error[collective-group]: ncc.reduce_scatter: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.reduce_scatter: the groups differ in size
nki.kernel @reduce_scatter_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[]], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, -1]], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [1, 2]], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2]], collective_dim=0, op=add
  nki.return
}

// Dim 1, whose shape is wrong then as well.
// CHECK: error[collective-dim]: ncc.reduce_scatter: 'collective_dim' is 1, in HBM it is 0
// CHECK: error[collective-shape]: ncc.reduce_scatter: 'dsts' has shape (2, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (4, 32)
nki.kernel @reduce_scatter_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=1, op=add
  nki.return
}

// Not an operator of collectives.
// CHECK: error[collective-operator]: ncc.reduce_scatter: 'op' is nl.multiply
nki.kernel @reduce_scatter_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=multiply
  nki.return
}

// A destination that is too large; a source that the ranks do not divide.
// CHECK: error[collective-shape]: ncc.reduce_scatter: 'dsts' has shape (4, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (2, 64)
// CHECK: error[collective-shape]: ncc.reduce_scatter: 'dsts' has shape (4, 64); 'srcs' of shape (3, 64) and groups of 2 ranks need a shape that they divide
nki.kernel @reduce_scatter_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %t = nki.alloc : memref<3x64xf32, #nki.private_hbm>
  ncc.reduce_scatter srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  ncc.reduce_scatter srcs=[%t], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, op=add
  nki.return
}

// -------------------- ncc.all_to_all

// In SBUF.
// CHECK: error[collective-buffer]: ncc.all_to_all: 'srcs' lives in sbuf
nki.kernel @all_to_all_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// A source without a destination.
// CHECK: error[collective-lists]: ncc.all_to_all: the lists of tensors differ in length: 'srcs' has 2, 'dsts' has 1
nki.kernel @all_to_all_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s, %s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.all_to_all: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_to_all_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.all_to_all: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_to_all_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.all_to_all: 'priority' must be 0 to 3, it is 4
nki.kernel @all_to_all_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0, priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.all_to_all: a group has no ranks
// CHECK: error[collective-group]: ncc.all_to_all: rank -1 is negative
// CHECK: error[collective-group]: ncc.all_to_all: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.all_to_all: the groups differ in size
nki.kernel @all_to_all_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[], collective_dim=0
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[]], collective_dim=0
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, -1]], collective_dim=0
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [1, 2]], collective_dim=0
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2]], collective_dim=0
  nki.return
}

// Dim 1.
// CHECK: error[collective-dim]: ncc.all_to_all: 'collective_dim' is 1, in HBM it is 0
nki.kernel @all_to_all_dim() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=1
  nki.return
}

// A destination of another shape; a source that the ranks do not divide.
// CHECK: error[collective-shape]: ncc.all_to_all: 'dsts' has shape (2, 64); 'srcs' of shape (4, 64) and groups of 2 ranks need (4, 64)
// CHECK: error[collective-shape]: ncc.all_to_all: 'dsts' has shape (3, 64); 'srcs' of shape (3, 64) and groups of 2 ranks need a shape that they divide
nki.kernel @all_to_all_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  %t = nki.alloc : memref<3x64xf32, #nki.private_hbm>
  ncc.all_to_all srcs=[%s], dsts=[%d], replica_group=[[0, 1], [2, 3]], collective_dim=0
  ncc.all_to_all srcs=[%t], dsts=[%t], replica_group=[[0, 1], [2, 3]], collective_dim=0
  nki.return
}

// -------------------- ncc.all_gather_v

// In SBUF.
// CHECK: error[collective-buffer]: ncc.all_gather_v: 'srcs' lives in sbuf
nki.kernel @all_gather_v_buffer_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_buffer_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Two tensors.
// CHECK: error[collective-coalesced]: ncc.all_gather_v: takes one tensor, there are 2
nki.kernel @all_gather_v_coalesced_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_coalesced_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// A destination too many.
// CHECK: error[collective-lists]: ncc.all_gather_v: the lists of tensors differ in length: 'srcs' has 1, 'dsts' has 2
nki.kernel @all_gather_v_lists_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_lists_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.all_gather_v: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_gather_v_dtype_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_dtype_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.all_gather_v: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_gather_v_priority_generation_core0() target=trn2 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}
nki.kernel @all_gather_v_priority_generation_core1() target=trn2 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.all_gather_v: 'priority' must be 0 to 3, it is 4
nki.kernel @all_gather_v_priority_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}
nki.kernel @all_gather_v_priority_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}

// A negative rank; a rank twice.
// CHECK: error[collective-group]: ncc.all_gather_v: rank -3 is negative
// CHECK: error[collective-group]: ncc.all_gather_v: rank 2 is in the groups twice
nki.kernel @all_gather_v_group_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, -3]], metadata_tensor=%m
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_group_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, -3]], metadata_tensor=%m
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}

// A destination that does not divide into slots.
// CHECK: error[collective-shape]: ncc.all_gather_v: the 9 elements of 'dsts' do not divide into 4 equal slots
nki.kernel @all_gather_v_slots_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<3x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_slots_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<3x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Signed; two rows; too few ranks; over partitions; in PSUM; with gaps.
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' is int32, not uint32
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' has shape (2, 4), not (3, 4) or (4, 4)
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' has shape (3, 3), not (3, 4) or (4, 4)
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' has shape (3, 4), not (1, 3, 4) or (1, 4, 4)
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' lives in psum
// CHECK: error[collective-metadata]: ncc.all_gather_v: 'metadata_tensor' is not contiguous
nki.kernel @all_gather_v_metadata_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xi32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<2x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<3x3xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<3x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %m4 = nki.alloc : memref<1x3x4xui32, #nki.psum>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4
  %w = nki.alloc : memref<3x8xui32, #nki.shared_hbm>
  %v = nki.view %w offset=0 pattern=[[8, 3], [1, 4]]
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}
nki.kernel @all_gather_v_metadata_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xi32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<2x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<3x3xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<3x4xui32, #nki.sbuf>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %m4 = nki.alloc : memref<1x3x4xui32, #nki.psum>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4
  %w = nki.alloc : memref<3x8xui32, #nki.shared_hbm>
  %v = nki.view %w offset=0 pattern=[[8, 3], [1, 4]]
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}

// Not supported at all.
// CHECK: error[collective-rdispls]: ncc.all_gather_v: has_rdispls=True is not supported
nki.kernel @all_gather_v_rdispls_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=true
  nki.return
}
nki.kernel @all_gather_v_rdispls_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=true
  nki.return
}

// On one core.
// CHECK: error[collective-launch]: ncc.all_gather_v: the kernel is launched on one core
nki.kernel @all_gather_v_launch() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Groups of two ranks.
// CHECK: error[collective-launch]: ncc.all_gather_v: the groups have 2 ranks
nki.kernel @all_gather_v_ranks_core0() target=trn3 program=[0, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x2xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1]], metadata_tensor=%m
  nki.return
}
nki.kernel @all_gather_v_ranks_core1() target=trn3 program=[1, 2] {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x2xui32, #nki.shared_hbm>
  ncc.all_gather_v srcs=[%s], dsts=[%d], replica_group=[[0, 1]], metadata_tensor=%m
  nki.return
}

// -------------------- ncc.all_to_all_v

// In SBUF.
// CHECK: error[collective-buffer]: ncc.all_to_all_v: 'srcs' lives in sbuf
nki.kernel @all_to_all_v_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Two tensors.
// CHECK: error[collective-coalesced]: ncc.all_to_all_v: takes one tensor, there are 2
nki.kernel @all_to_all_v_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s, %s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// A destination too many.
// CHECK: error[collective-lists]: ncc.all_to_all_v: the lists of tensors differ in length: 'srcs' has 1, 'dsts' has 2
nki.kernel @all_to_all_v_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d, %d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.all_to_all_v: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @all_to_all_v_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.all_to_all_v: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_to_all_v_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.all_to_all_v: 'priority' must be 0 to 3, it is 4
nki.kernel @all_to_all_v_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, priority=4
  nki.return
}

// A negative rank; a rank twice.
// CHECK: error[collective-group]: ncc.all_to_all_v: rank -3 is negative
// CHECK: error[collective-group]: ncc.all_to_all_v: rank 2 is in the groups twice
nki.kernel @all_to_all_v_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, -3]], metadata_tensor=%m
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 2]], metadata_tensor=%m
  nki.return
}

// A destination that does not divide into slots.
// CHECK: error[collective-shape]: ncc.all_to_all_v: the 9 elements of 'dsts' do not divide into 4 equal slots
nki.kernel @all_to_all_v_slots() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<3x3xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m
  nki.return
}

// Signed; two rows; too few ranks; over partitions; in PSUM; with gaps.
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' is int32, not uint32
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' has shape (2, 4), not (3, 4) or (4, 4)
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' has shape (3, 3), not (3, 4) or (4, 4)
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' has shape (3, 4), not (1, 3, 4) or (1, 4, 4)
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' lives in psum
// CHECK: error[collective-metadata]: ncc.all_to_all_v: 'metadata_tensor' is not contiguous
nki.kernel @all_to_all_v_metadata() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<3x4xui32, #nki.shared_hbm>
  %m0 = nki.alloc : memref<3x4xi32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m0
  %m1 = nki.alloc : memref<2x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m1
  %m2 = nki.alloc : memref<3x3xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m2
  %m3 = nki.alloc : memref<3x4xui32, #nki.sbuf>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m3
  %m4 = nki.alloc : memref<1x3x4xui32, #nki.psum>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m4
  %w = nki.alloc : memref<3x8xui32, #nki.shared_hbm>
  %v = nki.view %w offset=0 pattern=[[8, 3], [1, 4]]
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%v
  nki.return
}

// Not before NeuronCore-v4.
// CHECK: error[collective-rdispls]: ncc.all_to_all_v: has_rdispls=True needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @all_to_all_v_rdispls() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %m = nki.alloc : memref<4x4xui32, #nki.shared_hbm>
  ncc.all_to_all_v srcs=[%s], dsts=[%d], replica_group=[[0, 1, 2, 3]], metadata_tensor=%m, has_rdispls=true
  nki.return
}

// -------------------- ncc.collective_permute

// In SBUF.
// CHECK: error[collective-buffer]: ncc.collective_permute: 'srcs' lives in sbuf
nki.kernel @collective_permute_buffer() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// Two tensors.
// CHECK: error[collective-coalesced]: ncc.collective_permute: takes one tensor, there are 2
nki.kernel @collective_permute_coalesced() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s, %s], dsts=[%d, %d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// A destination too many.
// CHECK: error[collective-lists]: ncc.collective_permute: the lists of tensors differ in length: 'srcs' has 1, 'dsts' has 2
nki.kernel @collective_permute_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d, %d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.collective_permute: different data types: 'srcs' is float32, 'dsts' is bfloat16
nki.kernel @collective_permute_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.collective_permute: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @collective_permute_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]], priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.collective_permute: 'priority' must be 0 to 3, it is 4
nki.kernel @collective_permute_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]], priority=4
  nki.return
}

// No pairs; a negative rank; a source and a target twice.
// CHECK: error[collective-group]: ncc.collective_permute: there are no pairs of ranks
// CHECK: error[collective-group]: ncc.collective_permute: target rank -1 is negative
// CHECK: error[collective-group]: ncc.collective_permute: rank 0 is a source twice
// CHECK: error[collective-group]: ncc.collective_permute: rank 1 is a target twice
nki.kernel @collective_permute_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, -1]]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [0, 2]]
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [2, 1]]
  nki.return
}

// A destination of another shape.
// CHECK: error[collective-shape]: ncc.collective_permute: 'dsts' has shape (2, 64); 'srcs' of shape (4, 64) needs (4, 64)
nki.kernel @collective_permute_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.collective_permute srcs=[%s], dsts=[%d], source_target_pairs=[[0, 1], [1, 0]]
  nki.return
}

// -------------------- ncc.collective_permute_implicit

// In PSUM; some in SBUF and some in HBM.
// CHECK: error[collective-buffer]: ncc.collective_permute_implicit: 'srcs_by_channel' lives in psum
// CHECK: error[collective-buffer]: ncc.collective_permute_implicit: 'srcs_by_channel' lives in sbuf, 'dsts_by_channel' lives in private_hbm
nki.kernel @collective_permute_implicit_buffer() target=trn3 {
  %p = nki.alloc : memref<4x64xf32, #nki.psum>
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%p], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit srcs_by_channel=[%b], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

// Two free dimensions in SBUF.
// CHECK: error[collective-sbuf-dims]: ncc.collective_permute_implicit: 'srcs_by_channel' in SBUF has 3 dimensions
nki.kernel @collective_permute_implicit_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

// A destination too many.
// CHECK: error[collective-lists]: ncc.collective_permute_implicit: the lists of tensors differ in length: 'srcs_by_channel' has 1, 'dsts_by_channel' has 2
nki.kernel @collective_permute_implicit_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d, %d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.collective_permute_implicit: different data types: 'srcs_by_channel' is float32, 'dsts_by_channel' is bfloat16
nki.kernel @collective_permute_implicit_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.collective_permute_implicit: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @collective_permute_implicit_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0], priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.collective_permute_implicit: 'priority' must be 0 to 3, it is 4
nki.kernel @collective_permute_implicit_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0], priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.collective_permute_implicit: a group has no ranks
// CHECK: error[collective-group]: ncc.collective_permute_implicit: rank -1 is negative
// CHECK: error[collective-group]: ncc.collective_permute_implicit: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.collective_permute_implicit: the groups differ in size
nki.kernel @collective_permute_implicit_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, -1]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [1, 2]], channel_ids=[0]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2]], channel_ids=[0]
  nki.return
}

// A destination of another shape.
// CHECK: error[collective-shape]: ncc.collective_permute_implicit: 'dsts_by_channel' has shape (2, 64); 'srcs_by_channel' of shape (4, 64) and groups of 2 ranks need (4, 64)
nki.kernel @collective_permute_implicit_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0]
  nki.return
}

// Not from 0 on; more numbers than tensors; five channels.
// CHECK: error[collective-channels]: ncc.collective_permute_implicit: 'channel_ids' must count from 0, it is [1]
// CHECK: error[collective-channels]: ncc.collective_permute_implicit: there are 1 channels of tensors and 2 channel_ids
// CHECK: error[collective-channels]: ncc.collective_permute_implicit: there are at most 4 channels, not 5
nki.kernel @collective_permute_implicit_channels() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[1]
  ncc.collective_permute_implicit srcs_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], channel_ids=[0, 1]
  ncc.collective_permute_implicit srcs_by_channel=[%s, %s, %s, %s, %s], dsts_by_channel=[%d, %d, %d, %d, %d], replica_group=[[0, 1], [2, 3]], channel_ids=[0, 1, 2, 3, 4]
  nki.return
}

// -------------------- ncc.collective_permute_implicit_reduce

// In PSUM; some in SBUF and some in HBM.
// CHECK: error[collective-buffer]: ncc.collective_permute_implicit_reduce: 'srcs0_by_channel' lives in psum
// CHECK: error[collective-buffer]: ncc.collective_permute_implicit_reduce: 'srcs0_by_channel' lives in sbuf, 'dsts_by_channel' lives in private_hbm
nki.kernel @collective_permute_implicit_reduce_buffer() target=trn3 {
  %p = nki.alloc : memref<4x64xf32, #nki.psum>
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%p], srcs1_by_channel=[%p], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  %b = nki.alloc : memref<4x64xf32, #nki.sbuf>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%b], srcs1_by_channel=[%b], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

// Two free dimensions in SBUF.
// CHECK: error[collective-sbuf-dims]: ncc.collective_permute_implicit_reduce: 'srcs0_by_channel' in SBUF has 3 dimensions
nki.kernel @collective_permute_implicit_reduce_sbuf_dims() target=trn3 {
  %s = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  %d = nki.alloc : memref<4x8x8xf32, #nki.sbuf>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

// A destination too many.
// CHECK: error[collective-lists]: ncc.collective_permute_implicit_reduce: the lists of tensors differ in length: 'srcs0_by_channel' has 1, 'srcs1_by_channel' has 1, 'dsts_by_channel' has 2
nki.kernel @collective_permute_implicit_reduce_lists() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d, %d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

// The data types differ.
// CHECK: error[collective-dtype]: ncc.collective_permute_implicit_reduce: different data types: 'srcs0_by_channel' is float32, 'srcs1_by_channel' is float32, 'dsts_by_channel' is bfloat16
nki.kernel @collective_permute_implicit_reduce_dtype() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

// Priorities are new in NeuronCore-v4.
// CHECK: error[argument-generation]: ncc.collective_permute_implicit_reduce: 'priority' needs NeuronCore-v4, the target trn2 is NeuronCore-v3
nki.kernel @collective_permute_implicit_reduce_priority_generation() target=trn2 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0], priority=0
  nki.return
}

// There are priorities 0 to 3.
// CHECK: error[dma-arguments]: ncc.collective_permute_implicit_reduce: 'priority' must be 0 to 3, it is 4
nki.kernel @collective_permute_implicit_reduce_priority() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0], priority=4
  nki.return
}

// No group; an empty one; a negative rank; a rank twice; groups of different size.
// CHECK: error[collective-group]: ncc.collective_permute_implicit_reduce: a group has no ranks
// CHECK: error[collective-group]: ncc.collective_permute_implicit_reduce: rank -1 is negative
// CHECK: error[collective-group]: ncc.collective_permute_implicit_reduce: rank 1 is in the groups twice
// CHECK: error[collective-group]: ncc.collective_permute_implicit_reduce: the groups differ in size
nki.kernel @collective_permute_implicit_reduce_group() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, -1]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [1, 2]], op=add, channel_ids=[0]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2]], op=add, channel_ids=[0]
  nki.return
}

// Not an operator of collectives.
// CHECK: error[collective-operator]: ncc.collective_permute_implicit_reduce: 'op' is nl.multiply
nki.kernel @collective_permute_implicit_reduce_operator() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=multiply, channel_ids=[0]
  nki.return
}

// A destination of another shape.
// CHECK: error[collective-shape]: ncc.collective_permute_implicit_reduce: 'dsts_by_channel' has shape (2, 64); 'srcs0_by_channel' of shape (4, 64) and groups of 2 ranks need (4, 64)
nki.kernel @collective_permute_implicit_reduce_shape() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<2x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0]
  nki.return
}

// Not from 0 on; more numbers than tensors; five channels.
// CHECK: error[collective-channels]: ncc.collective_permute_implicit_reduce: 'channel_ids' must count from 0, it is [1]
// CHECK: error[collective-channels]: ncc.collective_permute_implicit_reduce: there are 1 channels of tensors and 2 channel_ids
// CHECK: error[collective-channels]: ncc.collective_permute_implicit_reduce: there are at most 4 channels, not 5
nki.kernel @collective_permute_implicit_reduce_channels() target=trn3 {
  %s = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[1]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s], srcs1_by_channel=[%s], dsts_by_channel=[%d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0, 1]
  ncc.collective_permute_implicit_reduce srcs0_by_channel=[%s, %s, %s, %s, %s], srcs1_by_channel=[%s, %s, %s, %s, %s], dsts_by_channel=[%d, %d, %d, %d, %d], replica_group=[[0, 1], [2, 3]], op=add, channel_ids=[0, 1, 2, 3, 4]
  nki.return
}

// -------------------- ncc.collective_permute_implicit_current_processing_rank_id

// A rank twice.
// CHECK: error[collective-group]: ncc.collective_permute_implicit_current_processing_rank_id: rank 1 is in the groups twice
nki.kernel @rank_id_group() target=trn3 {
  %c = arith.constant 0 : i32
  %r = nki.register
  ncc.collective_permute_implicit_current_processing_rank_id dst=%r, iteration_id=%c, replica_group=[[0, 1], [1, 2]], channel_id=0
  nki.return
}

// Channels are 0 to 3.
// CHECK: error[collective-channels]: ncc.collective_permute_implicit_current_processing_rank_id: 'channel_id' is 0 to 3, not 4
nki.kernel @rank_id_channel() target=trn3 {
  %c = arith.constant 0 : i32
  %r = nki.register
  ncc.collective_permute_implicit_current_processing_rank_id dst=%r, iteration_id=%c, replica_group=[[0, 1]], channel_id=4
  nki.return
}
