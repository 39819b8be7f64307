# RUN: not nkijit verify %s:found_by_rules -a x=128x64:float32 -t trn2 | filecheck --match-full-lines --check-prefix=RULES %s
# RUN: not nkijit verify %s:shapes -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=SHAPES %s
# RUN: not nkijit verify %s:axes -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=AXES %s

# Mistakes in a call are reported at the kernel's line, by the rules of the instruction that
# implements it or by the call itself.

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def found_by_rules(x):
    tile = nl.load(x)
    # RULES: error[operator-generation]: nl.abs_max: 'op' is nl.abs_max, an operator of NeuronCore-v4, the target trn2 is NeuronCore-v3
    # RULES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 6]]:5
    # RULES-NEXT: |
    # RULES-NEXT: [[# @LINE + 4]] |     nl.abs_max(tile, tile)
    # RULES-NEXT: | ^^^^^^^^^^
    # RULES-NEXT: = nl.abs_max is implemented with nisa.tensor_tensor
    # RULES-NEXT: = help: choose another operator, or trace for a newer target with platform_target=
    nl.abs_max(tile, tile)
    # RULES: error[bitvec-dtype]: nl.bitwise_or: 'x' must be of an integer type, it is float32
    nl.bitwise_or(tile, 1)
    # RULES: error[buffer]: nl.exp: 'x' must be in sbuf or psum, it is in private_hbm
    nl.exp(x)
    banked = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
    nisa.tensor_copy(banked, tile)
    # RULES: error[gpsimd-psum]: nl.rsqrt: the GpSimd Engine cannot reach PSUM, but 'x' is in PSUM
    nl.rsqrt(banked)
    # RULES: error[constant-written]: nl.store: 'dst' is constant data
    # RULES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 4]]:14
    # RULES: = dst: %constant, shared_hbm 128x64 float32, a constant, allocated at {{.*}}mistakes.py:[[# @LINE + 2]]:16
    # RULES: = help: write to a tensor of nl.ndarray, e.g. after copying the constant to it
    constant = nl.shared_constant(np.zeros((128, 64), np.float32))
    nl.store(constant, tile)
    # RULES: 5 errors for trn2 (--target)


@nki.jit
def shapes(x):
    tile = nl.load(x)
    # SHAPES: error[argument]: nl.add: shapes that do not broadcast: 'tile' has (128, 64), 'tile[:, 0:32]' has (128, 32)
    # SHAPES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:18
    # SHAPES-NEXT: |
    # SHAPES-NEXT: [[# @LINE + 3]] | out = nl.add(tile, tile[:, 0:32])
    # SHAPES-NEXT: | ^^^^
    # SHAPES-NEXT: = help: each dimension has the same size or 1: slice dim 1 of 'tile', [:, 0:32]
    out = nl.add(tile, tile[:, 0:32])
    # SHAPES: 1 error for trn3 (default)


@nki.jit
def axes(x):
    # AXES: error[reduce-axes]: nl.sum: 'axis' is [0]; legal for this tile are [1]
    # AXES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:29
    nl.sum(nl.load(x), axis=0)
    # AXES: 1 error for trn3 (default)
