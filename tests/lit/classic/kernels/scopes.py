# RUN: %python %S/../../Inputs/verify_kernels.py %s -a x=128x512:float32 -a scale=2.0 | filecheck --match-full-lines %s

# Tensors that leave the loop, or the branch, that allocates them.

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def last_iteration(x, scale):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(4):
        total = nl.sum(nl.load(x[:, nl.ds(j * 128, 128)]), axis=[1], keepdims=True)
    # CHECK: warning[err_local_variable_used_out_of_scope]: nl.store: 'total' is allocated in the loop at line [[# @LINE - 2]] and used after it
    # CHECK-NEXT: --> {{.*}}scopes.py:[[# @LINE + 10]]:5
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 8]] | nl.store(out, total)
    # CHECK-NEXT: | ^^^^^^^^
    # CHECK-NEXT: ::: {{.*}}scopes.py:[[# @LINE - 6]]:17
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE - 8]] | total = nl.sum(nl.load(x[:, nl.ds(j * 128, 128)]), axis=[1], keepdims=True)
    # CHECK-NEXT: | ------ allocated here
    # CHECK-NEXT: = nl.store is implemented with nisa.dma_copy
    # CHECK-NEXT: = help: after the loop it holds the last iteration only: write total = nl.zeros((128, 1), nl.float32) before the loop, and total += ... or total[...] = ... in it
    nl.store(out, total)
    return out


@nki.jit
def shadowed(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    data = nl.load(x)
    for _ in nl.sequential_range(4):
        data = data * 2
    # CHECK: warning[err_local_variable_used_out_of_scope]: nl.store: 'data' is allocated in the loop at line [[# @LINE - 2]] and used after it
    # CHECK: = help: write data[...] = ... in the loop: it updates the tile allocated before it
    nl.store(out, data)
    return out


@nki.jit
def branch_of_a_loop(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(4):
        if i < 2:  # noqa: SIM108
            part = nl.load(x[:, nl.ds(i * 128, 128)])
        else:
            part = nl.zeros((128, 128), dtype=x.dtype)
        # CHECK: warning[err_local_variable_used_out_of_scope]: nl.store: 'part' is allocated in a branch of the if at line [[# @LINE - 4]] and used after it
        # CHECK: = help: write part = nl.ndarray((128, 128), nl.float32) before the if, and part[...] = ... in each branch
        nl.store(out[:, nl.ds(i * 128, 128)], part)
    return out


def doubled(tile):
    return tile * 2


@nki.jit
def result_of_a_function(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for _ in nl.affine_range(1):
        tile = doubled(nl.load(x))
    # CHECK: warning[err_local_variable_used_out_of_scope]: nl.store: 'tile' is allocated in the loop at line [[# @LINE - 2]] and used after it
    nl.store(out, tile)
    return out


@nki.jit
def shared(x, scale):
    for i in nl.affine_range(4):
        # CHECK: warning[err_shared_hbm_must_in_kernel_level]: nl.ndarray: 'out' is allocated in the loop at line [[# @LINE - 1]]
        # CHECK-NEXT: --> {{.*}}scopes.py:[[# @LINE + 5]]:15
        # CHECK-NEXT: |
        # CHECK-NEXT: [[# @LINE + 3]] | out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        # CHECK-NEXT: | ^^^^^^^^^^
        # CHECK-NEXT: = help: move the line before the loop
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out[:, nl.ds(i * 128, 128)], nl.load(x[:, nl.ds(i * 128, 128)]))
    return out


# CHECK-NOT: error


# Assigned again after the loop.
# CHECK: exit code 0 for assigned_again
@nki.jit
def assigned_again(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(4):
        tile = nl.load(x[:, nl.ds(j * 128, 128)])
        nl.store(out[:, nl.ds(j * 128, 128)], tile)
    tile = nl.load(x)
    nl.store(out, tile)
    return out


# A branch that depends on an argument only, and an unrolled loop.
# CHECK: exit code 0 for known_branch
@nki.jit
def known_branch(x, scale):
    if scale:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x) * scale
    for _ in nl.static_range(1):
        tile = tile + 1
    nl.store(out, tile)
    return out


# The variable of the loop is a view of a tile that is allocated before it.
# CHECK: exit code 0 for view_of_an_outer_tile
@nki.jit
def view_of_an_outer_tile(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    buffer = nl.zeros(x.shape, dtype=x.dtype)
    for j in nl.affine_range(1):
        buffer[...] = nl.load(x)
        current = buffer[:, nl.ds(j * 512, 512)]
    nl.store(out, current)
    return out


# CHECK: exit code 0 for accumulated
@nki.jit
def accumulated(x, scale):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, 1), dtype=x.dtype)
    for j in nl.affine_range(4):
        total += nl.sum(nl.load(x[:, nl.ds(j * 128, 128)]), axis=[1], keepdims=True)
    nl.store(out, total)
    return out
