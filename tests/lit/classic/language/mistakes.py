# RUN: %python %S/../../Inputs/verify_kernels.py %s -a x=128x512:float32 -t trn2 | filecheck --match-full-lines %s

# Indices, shapes and memories that do not fit in the classic API: the help depends on the mistake.

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def float_limit(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': limit of a slice is a float; the shape is (128, 512); legal: an integer
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 6]]:12
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] |     nl.exp(t[:, 0 : x.shape[1] / 2])
    # CHECK-NEXT: |            ^
    # CHECK-NEXT: = nki.errors: err_tensor_access_out_of_bound
    # CHECK-NEXT: = help: divide sizes with //, which gives ints; / gives floats
    nl.exp(t[:, 0 : x.shape[1] / 2])


@nki.jit
def float_range(x):
    # CHECK: error[affine-index]: index expression: nl.arange takes one to three integers, got (256.0,)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:40
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.load(x[nl.arange(128)[:, None], nl.arange(x.shape[1] / 2)[None, :]])


@nki.jit
def float_grid(x):
    # CHECK: error[affine-index]: index expression: nl.mgrid takes slices with a stop and no step of 0, got slice(0, 256.0, None)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:9
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    i = nl.mgrid[0:128, 0 : x.shape[1] / 2]
    nl.load(x[i.p, i.x])


@nki.jit
def empty_range(x):
    # CHECK: warning[empty-slice]: nl.load: 'dst' (128, 0) is empty, so the instruction is left out
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: nothing to do if the slice is meant to be empty here, e.g. after the last whole tile
    nl.load(x[nl.arange(128)[:, None], nl.arange(0)[None, :]])


@nki.jit
def ranges_without_dimensions(x):
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 'x': the shapes of the indices do not broadcast: [(128,), (512,)]
    # CHECK: = help: give each range its own dimension: nl.arange(128)[:, None] and nl.arange(512)[None, :]
    nl.load(x[nl.arange(128), nl.arange(512)])


@nki.jit
def iota_of_a_range(x):
    # CHECK: error[err_1d_arange_not_supported]: nisa.iota: 'expr' is of shape (512,)
    # CHECK: = help: nl.arange(512)[None, :] counts along the columns, nl.arange(512)[:, None] along the partitions
    nisa.iota(nl.arange(512), dtype=nl.float32)


@nki.jit
def ranges_of_two_sizes(x):
    # CHECK: error[affine-index]: index expression: shapes (16,) and (8,) do not broadcast
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:41
    # CHECK: = help: give each expression a dimension of its own, nl.arange(n)[:, None] and nl.arange(m)[None, :], or the same size
    nl.load(x[nl.arange(128)[:, None], (nl.arange(16) + nl.arange(8))[None, :]])


@nki.jit
def quotient(x):
    i_f = nl.arange(512)[None, :]
    # CHECK: error[affine-index]: index expression: i_f // 2 is not affine
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:40
    # CHECK: = help: split the dimension instead: reshape the tensor so that it has a dimension for the quotient and one for the remainder, and index each with an nl.arange
    nl.load(x[nl.arange(128)[:, None], i_f // 2])


@nki.jit
def list_as_an_index(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a list; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:12
    # CHECK: = help: write the slice 0:5:2 in the place of the list
    nl.exp(t[:, [0, 2, 4]])


@nki.jit
def new_dimension(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': index of dim 1 is a NoneType; the shape is (128, 512); legal: an integer, a slice, `...` or nl.ds(start, size)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:12
    # CHECK: = help: insert a dimension of size 1 with t.expand_dims(1)
    nl.exp(t[:, None, :])


@nki.jit
def backwards(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': slice ::-1 of dim 1 has step -1; the shape is (128, 512); legal: 0 <= start <= end <= 512, step >= 1
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:12
    # CHECK: = help: an index expression runs backwards: t[nl.arange(128)[:, None], 511 - nl.arange(512)[None, :]]
    nl.exp(t[:, ::-1])


@nki.jit
def too_many(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': 3 indices; the shape is (128, 512); legal: at most 2 and at most one `...`
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:12
    # CHECK: = help: t has 2 dimensions: leave out 1 of the indices, or split a dimension first with t.reshape(shape)
    nl.exp(t[:, 0, 0])


@nki.jit
def last_round(x):
    for i in nl.affine_range(3):
        # CHECK: error[view]: view of 'x': nl.ds(400, 200) of dim 1 is out of its size 512; the shape is (128, 512); legal: start >= 0, size >= 0, start + size <= 512
        # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:9
        # CHECK: = help: in the last round of a loop pass the size min(n, x.shape[1] - start), here 112
        nl.load(x[:, nl.ds(i * 200, 200)])


@nki.jit
def beyond_the_tensor(x):
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 'x': index range [0, 599] exceeds dimension 1, whose size is 512
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:5
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.load(x[nl.arange(128)[:, None], nl.arange(600)[None, :]])
    # CHECK-NEXT: |     ^^^^^^^
    # CHECK-NEXT: = help: leave out the elements beyond the tensor, mask=(index < 512) with the index expression of this dimension, or correct the expression
    nl.load(x[nl.arange(128)[:, None], nl.arange(600)[None, :]])


@nki.jit
def before_the_tensor(x):
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 'x': index range [-1, 510] exceeds dimension 1, whose size is 512
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: leave out the elements beyond the tensor, mask=(index >= 0) with the index expression of this dimension, or correct the expression
    nl.load(x[nl.arange(128)[:, None], nl.arange(512)[None, :] - 1])


@nki.jit
def on_both_sides(x):
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 'x': index range [-2, 513] exceeds dimension 1, whose size is 512
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: leave out the elements beyond the tensor, mask=((index >= 0) & (index < 512)) with the index expression of this dimension, or correct the expression
    nl.load(x[nl.arange(128)[:, None], nl.arange(516)[None, :] - 2])


@nki.jit
def beyond_the_partitions(x):
    t = nl.load(x)
    # CHECK: error[err_tensor_access_out_of_bound]: tensor 't': index range [64, 191] exceeds dimension 0, whose size is 128
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: the tile has 128 partitions: index other rows of the tensor in HBM, with a tile for every 128 rows
    nl.exp(t[nl.arange(128)[:, None] + 64, nl.arange(512)[None, :]])


@nki.jit
def one_range(x):
    # CHECK: error[err_unsupported_mixing_basic_advanced_tensor_indexing]: tensor 'x': 1 index for a tensor of shape (128, 512); those left out would be slices
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:13
    # CHECK: = help: write index expressions for all dimensions: nl.arange(512)[None, :] for dimension 1
    nl.load(x[nl.arange(128)])


@nki.jit
def slice_with_a_range(x):
    # CHECK: error[err_unsupported_mixing_basic_advanced_tensor_indexing]: tensor 'x': slices and index expressions in one index
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:13
    # CHECK: = help: write index expressions for all dimensions: nl.arange(256)[None, :] for dimension 1
    nl.load(x[nl.arange(128)[:, None], 0:256])


@nki.jit
def other_partitions(x):
    t = nl.load(x)
    # CHECK: error[view]: view of 't': reshape to (64, 1024) changes the partition dimension; the shape is (128, 512); legal: (128, …) with two dimensions or more, in SBUF and PSUM
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:12
    # CHECK: = help: change the shape in HBM and load that, e.g. nl.load(x.reshape(shape)): on chip the rows of a tile stay in their partitions
    nl.exp(t.reshape((64, 1024)))


@nki.jit
def exchanged_store(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    t = nl.load(x)
    # CHECK: error[err_unsupported_memory]: nl.store: 't' must be in hbm, it is in sbuf
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:14
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.store(t, out)
    # CHECK-NEXT: |              ^
    # CHECK-NEXT: = help: the operands look exchanged: write nl.store(out, t)
    nl.store(t, out)


@nki.jit
def stored_on_chip(x):
    t = nl.load(x)
    # CHECK: error[err_unsupported_memory]: nl.store: 't' must be in hbm, it is in sbuf
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:14
    # CHECK: = help: store to a tensor of nl.ndarray(shape, dtype, buffer=nl.shared_hbm); to write a tile on chip, assign to it, t[...] = value
    nl.store(t, 0)


@nki.jit
def loaded_twice(x):
    t = nl.load(x)
    # CHECK: error[err_unsupported_memory]: nl.load: 't' must be in hbm, it is in sbuf
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:13
    # CHECK: = help: 't' is on chip already: pass it to functions as it is, or copy it with nisa.tensor_copy
    nl.load(t)


@nki.jit
def not_loaded(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    # CHECK: error[buffer]: nl.exp: 'x' must be in sbuf or psum, it is in private_hbm
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:26
    # CHECK: = help: load it first, e.g. tile = nl.load(x), and pass the tile
    nl.store(out, nl.exp(x))
    return out


@nki.jit
def larger_value(x):
    half = nl.ndarray((64, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[err_store_dst_shape_smaller_than_other_shape]: tensor 'half': what is assigned has shape (128, 512), which does not broadcast to (64, 512), the shape of the destination
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: assign the part [0:64, :], or make the destination as large, (128, 512)
    half[...] = nl.load(x)


@nki.jit
def transposed_value(x):
    out = nl.ndarray((512, 128), nl.float32, buffer=nl.shared_hbm)
    # CHECK: error[err_store_dst_shape_smaller_than_other_shape]: tensor 'out': what is assigned has shape (128, 512), which does not broadcast to (512, 128), the shape of the destination
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
    # CHECK: = help: transpose first, e.g. with nl.transpose, or make the destination as large
    nl.store(out, nl.load(x))


@nki.jit
def not_transposed(x):
    a = nl.load(x[0:64, 0:128])
    b = nl.load(x)
    # CHECK: error[partitions-match]: nisa.nc_matmul: operands that do not fit together: 'a' has (64, 128), 'b' has (128, 512)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:20
    # CHECK: = help: 'a' has the contracted dimension in its columns: transpose it first with nisa.nc_transpose
    nisa.nc_matmul(a, b)


@nki.jit
def transposed_left(x):
    a = nl.load(x[:, 0:64])
    b = nl.load(x)
    # CHECK: error[free-size-match]: nl.matmul: operands that do not fit together: 'a' has (128, 64), 'b' has (128, 512)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:15
    # CHECK: = help: 'a' has the contracted dimension in its partitions: pass transpose_x=True, or transpose it first with nisa.nc_transpose
    nl.matmul(a, b)


@nki.jit
def other_partitions_of_one(x):
    t = nl.load(x)
    half = nl.load(x[0:64])
    # CHECK: error[partitions-match]: nisa.tensor_tensor: operands that do not fit together: 't' has (128, 512), 'half' has (64, 512)
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:24
    # CHECK: = help: each dimension has the same size or 1: slice dim 0 of 't', [0:64]
    nisa.tensor_tensor(t, half, np.add)


@nki.jit
def partition_axis(x):
    t = nl.load(x)
    # CHECK: error[reduce-axes]: nl.sum: 'axis' is [0]; legal for this tile are [1]
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:20
    # CHECK: = help: dim 0 is the partition dimension: add up partitions with nisa.nc_matmul, t as 'moving' and a (P, 1) tile of ones as 'stationary'; for other operators transpose first with nisa.nc_transpose, and reduce axis 1
    nl.sum(t, axis=0)


@nki.jit
# CHECK: error[err_tensor_output_not_written_to]: kernel 'float_rows': it returns nothing, and writes no parameter
# CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:5
# CHECK: = help: check that the loops and conditions around the stores are entered
def float_rows(x):
    idx = nl.load(x[:, 0:1])
    # CHECK: error[index-tile]: nki.view: 'idx' must be int32 or uint32, it is float32
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:15
    # CHECK: = help: allocate idx as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
    nl.load(x[idx, nl.arange(512)[None, :]])


@nki.jit
def word_for_a_dtype(x):
    # CHECK: error[argument]: nl.load: 'dtype': unknown data type 'fp32'; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:22
    # CHECK: = help: write nl.float32
    nl.load(x, dtype="fp32")


@nki.jit
def double_of_numpy(x):
    t = nl.load(x)
    # CHECK: error[argument]: nisa.tensor_copy: 'dtype': unknown data type numpy.float64; NKI has no float64
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32, the widest of its kind
    nisa.tensor_copy(t, dtype=np.float64)


@nki.jit
# CHECK: error[return-value]: kernel 'returned_number': result 1 is not a tensor but 3 (int)
# CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:17
# CHECK: = help: leave it out: the caller can compute it; or make it a tensor with nl.shared_constant
def returned_number(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out, 3
