# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x512:float32 -t trn2 | filecheck --match-full-lines %s

# Kernels that call functions of the other API: the first such call is the finding.

import neuronxcc.nki as classic
import neuronxcc.nki.isa as cisa
import neuronxcc.nki.language as cnl
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def classic_tensors(x):
    # CHECK: error[mixed-apis]: nl.ndarray: it is of the classic API, but the kernel's nki.jit is of the current API
    # CHECK-NEXT: --> {{.*}}mixed-apis.py:[[# @LINE + 5]]:11
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] | out = cnl.ndarray(x.shape, dtype=x.dtype, buffer=cnl.shared_hbm)
    # CHECK-NEXT: | ^^^^^^^^^^^
    # CHECK-NEXT: = help: for a kernel of the classic API, write import neuronxcc.nki as nki; for one of the current API, import nki.language as nl
    out = cnl.ndarray(x.shape, dtype=x.dtype, buffer=cnl.shared_hbm)
    i_p, i_f = cnl.mgrid[0:128, 0:512]
    cnl.store(out[i_p, i_f], cnl.load(x[i_p, i_f]))
    return out


@nki.jit
def classic_indices(x):
    # CHECK: error[mixed-apis]: nl.mgrid: it is of the classic API, but the kernel's nki.jit is of the current API
    i_p, i_f = cnl.mgrid[0:128, 0:512]
    return x[i_p, i_f]


@nki.jit
def classic_instruction(x):
    # CHECK: error[mixed-apis]: nisa.activation: it is of the classic API, but the kernel's nki.jit is of the current API
    # CHECK: = help: for a kernel of the classic API, write import neuronxcc.nki as nki; for one of the current API, import nki.isa as nisa
    return cisa.activation(op=nl.exp, data=nl.load(x))


@nki.jit
def classic_loop(x):
    # CHECK: error[mixed-apis]: nl.affine_range: it is of the classic API, but the kernel's nki.jit is of the current API
    for _ in cnl.affine_range(4):
        nl.load(x)


@nki.jit
def classic_grid(x):
    # CHECK: error[mixed-apis]: nl.program_id: it is of the classic API, but the kernel's nki.jit is of the current API
    return x[cnl.program_id(0)]


@classic.jit
def current_tensors(x):
    # CHECK: error[mixed-apis]: nl.ndarray: it is of the current API, but the kernel's nki.jit is of the classic API
    # CHECK: = help: for a kernel of the current API, write import nki; for one of the classic API, import neuronxcc.nki.language as nl
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@classic.jit
def current_zeros(x):
    # CHECK: error[mixed-apis]: nl.zeros: it is of the current API, but the kernel's nki.jit is of the classic API
    return nl.zeros((128, 512), dtype=x.dtype)


@classic.jit
def current_load(x):
    # CHECK: error[mixed-apis]: nl.load: it is of the current API, but the kernel's nki.jit is of the classic API
    return nl.load(x)


@classic.jit
def current_instruction(x):
    tile = cnl.load(x)
    # CHECK: error[mixed-apis]: nisa.tensor_copy: it is of the current API, but the kernel's nki.jit is of the classic API
    nisa.tensor_copy(cnl.ndarray(x.shape, dtype=x.dtype), tile)


# The arguments do not match either.
@classic.jit
def current_arguments(x):
    # CHECK: error[mixed-apis]: nisa.activation: it is of the current API, but the kernel's nki.jit is of the classic API
    return nisa.activation(op=cnl.exp, data=cnl.load(x))


# A name that only the kernel's own API has.
@classic.jit
def current_member(x):
    # CHECK: error[mixed-apis]: nl.mgrid: it is of the current API, but the kernel's nki.jit is of the classic API
    return nl.mgrid[0:128, 0:512]


@classic.jit
def current_loop(x):
    # CHECK: error[mixed-apis]: nl.affine_range: it is of the current API, but the kernel's nki.jit is of the classic API
    for _ in nl.affine_range(4):
        cnl.load(x)


@classic.jit
def current_grid(x):
    # CHECK: error[mixed-apis]: nl.program_id: it is of the current API, but the kernel's nki.jit is of the classic API
    return cnl.load(x[nl.program_id(0)])


# Data types and sizes are those of both APIs.
# CHECK-NOT: mixed-apis
@classic.jit
def dtypes(x):
    out = cnl.ndarray((nl.tile_size.pmax, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    cnl.store(out, cnl.load(x))
    return out
