# RUN: %python %S/../../Inputs/verify_kernels.py %s -a x=128x256:float32 -t trn2 | filecheck --match-full-lines %s

# Python's conditions on tiles and on index expressions: the help writes the user's condition as NKI does.

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def statement(x):
    t = nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: t > 0: the values of a tensor are not known while a kernel is traced
    # CHECK-NEXT: --> {{.*}}conditions.py:[[# @LINE + 5]]:8
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] | if t > 0:{{.*}}
    # CHECK-NEXT: | ^
    # CHECK-NEXT: = help: write y = nl.where(t > 0, t, t * 0.1)
    if t > 0:  # noqa: SIM108
        y = t
    else:
        y = t * 0.1
    return y


@nki.jit
def without_else(x):
    t = nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: t > 0: the values of a tensor are not known while a kernel is traced
    # CHECK: = help: compute both results, and select with nl.where(t > 0, ..., ...)
    if t > 0:
        t = t + 1
    return t


@nki.jit
def expression(x):
    t = nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: t > 0: the values of a tensor are not known while a kernel is traced
    # CHECK: = help: write nl.where(t > 0, t, 0)
    return t if t > 0 else 0


@nki.jit
def both(x):
    t = nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: t > 0 and t < 1: the values of a tensor are not known while a kernel is traced
    # CHECK: = help: write (t > 0) & (t < 1)
    return (t > 0) and (t < 1)


@nki.jit
def smallest(x):
    t, u = nl.load(x), nl.load(x)
    # CHECK: error[err_ambiguous_tensor_truth_value]: min(t, u): the values of a tensor are not known while a kernel is traced
    # CHECK: = help: write nl.minimum(t, u)
    return min(t, u)


@nki.jit
def clamped_index(x):
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[err_control_flow_condition_depending_on_arange]: index expression: control flow depends on nl.arange or nl.mgrid
    # CHECK: = help: Python's min cannot clamp an index: write one instruction with the index i_f + 1 and mask=i_f + 1 <= 255, and one for the other elements
    return nl.load(x[i_p, min(i_f + 1, 255)])


@nki.jit
def index_from_zero(x):
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[err_control_flow_condition_depending_on_arange]: index expression: control flow depends on nl.arange or nl.mgrid
    # CHECK: = help: Python's max cannot clamp an index: write one instruction with the index i_f - 1 and mask=i_f - 1 >= 0, and one for the other elements
    return nl.load(x[i_p, max(i_f - 1, 0)])


@nki.jit
def mask_with_or(x):
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[err_control_flow_condition_depending_on_arange]: index expression: control flow depends on nl.arange or nl.mgrid
    # CHECK: = help: a mask has no or: write one instruction with mask=i_p < 1 and one with mask=i_f < 1
    return nl.copy(nl.load(x), mask=(i_p < 1) or (i_f < 1))


@nki.jit
def wrapped(x):
    cols = x.shape[1]
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[affine-index]: index expression: (i_f + 1) % cols is not affine
    # CHECK: = help: to wrap around, write two instructions: one with the index i_f + 1 and mask=i_f + 1 < cols, one with the index i_f + 1 - cols and mask=i_f + 1 >= cols
    return nl.load(x[i_p, (i_f + 1) % cols])


@nki.jit
def wrapped_down(x):
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[affine-index]: index expression: (i_f - 1) % 256 is not affine
    # CHECK: = help: to wrap around, write two instructions: one with the index i_f - 1 + 256 and mask=i_f - 1 < 0, one with the index i_f - 1 and mask=i_f - 1 >= 0
    return nl.load(x[i_p, (i_f - 1) % 256])


@nki.jit
def remainder(x):
    i_p, i_f = nl.mgrid[0:128, 0:256]
    # CHECK: error[affine-index]: index expression: i_f % 2 is not affine
    # CHECK: = help: split the dimension instead: reshape the tensor so that it has a dimension for the quotient and one for the remainder, and index each with an nl.arange
    return nl.load(x[i_p, i_f % 2])


@nki.jit
def blocks_without_par_dim(x):
    tiles = nl.ndarray((4, 128, 256), dtype=x.dtype, buffer=nl.sbuf)
    i_p, i_f = nl.mgrid[0:128, 0:256]
    for i in nl.affine_range(4):
        # CHECK: error[err_failed_to_infer_tile_from_local_tensor]: tensor 'tiles': the index of dimension 1 mixes partitions and elements
        # CHECK: = help: allocate 'tiles' with shape (4, nl.par_dim(128), 256): without nl.par_dim, the first dimension is the partition dimension
        tiles[i, i_p, i_f] = nl.load(x[i_p, i_f])


@nki.jit
def maximum_of_two(x):
    t, u = nl.load(x), nl.load(x)
    # CHECK: error[argument]: nl.max: 'axis': expected an integer or a sequence of integers, got tensor(u: sbuf 128x256 float32)
    # CHECK: = help: nl.max reduces along an axis; for two tiles, write nl.maximum(t, u)
    return nl.max(t, u)


@nki.jit
def sum_of_two(x):
    t = nl.load(x)
    # CHECK: error[argument]: nl.sum: 'axis': expected an integer or a sequence of integers, got tensor({{.*}}: sbuf 128x256 float32)
    # CHECK: = help: nl.sum reduces along an axis; for two tiles, write nl.add(t, t * 2)
    return nl.sum(t, axis=t * 2)
