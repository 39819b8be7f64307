# RUN: not nkijit verify %s:bias_type -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=BIASTYPE %s
# RUN: not nkijit verify %s:bias_number -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=BIASNUMBER %s
# RUN: not nkijit verify %s:shapes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=SHAPES %s
# RUN: not nkijit verify %s:partitions -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PARTITIONS %s
# RUN: not nkijit verify %s:no_tile -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOTILE %s
# RUN: not nkijit verify %s:no_expression -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOEXPRESSION %s
# RUN: not nkijit verify %s:flat_expression -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=FLATEXPRESSION %s

# Operands that do not fit, or are none. They end the trace, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def bias_type(x):
    bias = nl.full((128, 1), 1, dtype=nl.int8)
    # BIASTYPE: error[err_activation_bias_invalid_type]: nisa.activation: 'bias' must be a tile of float32, float16 or bfloat16, it has elements of type int8
    # BIASTYPE-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:46
    nisa.activation(np.exp, nl.load(x), bias=bias)
    # BIASTYPE: 1 error for trn2 (--target)


@nki.jit
def bias_number(x):
    total = nl.zeros((128, 1), dtype=nl.float32)
    # BIASNUMBER: error[err_activation_bias_invalid_type]: nisa.activation_reduce: 'bias' must be a tile of float32, float16 or bfloat16, it is 0.5
    # BIASNUMBER-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:53
    nisa.activation_reduce(np.exp, nl.load(x), bias=0.5, reduce_op=np.add, reduce_res=total)
    # BIASNUMBER: 1 error for trn2 (--target)


@nki.jit
def shapes(x):
    tile = nl.load(x)
    # SHAPES: error[free-size-match]: nisa.tensor_tensor: operands that do not fit together: 'tile' has (128, 64), 'tile[:, 0:9]' has (128, 9)
    # SHAPES-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:24
    nisa.tensor_tensor(tile, tile[:, 0:9], np.add)
    # SHAPES: 1 error for trn2 (--target)


@nki.jit
def partitions(x):
    tile = nl.load(x)
    # PARTITIONS: error[partitions-match]: nisa.tensor_tensor: operands that do not fit together: 'tile' has (128, 64), 'tile[0:64]' has (64, 64)
    # PARTITIONS-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:24
    nisa.tensor_tensor(tile, tile[0:64], np.add)
    # PARTITIONS: 1 error for trn2 (--target)


@nki.jit
def no_tile(x):
    # NOTILE: error[argument]: nisa.tensor_copy: 'src': expected a tensor, got 3.0
    # NOTILE-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:22
    nisa.tensor_copy(3.0)
    # NOTILE: 1 error for trn2 (--target)


@nki.jit
def no_expression(x):
    # NOEXPRESSION: error[argument]: nisa.iota: 'expr': expected an index expression, got 7.5
    # NOEXPRESSION-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:15
    nisa.iota(7.5, dtype=nl.int32)
    # NOEXPRESSION: 1 error for trn2 (--target)


@nki.jit
def flat_expression(x):
    # FLATEXPRESSION: error[err_1d_arange_not_supported]: nisa.iota: 'expr' is of shape (64,)
    # FLATEXPRESSION-NEXT: --> {{.*}}operands.py:[[# @LINE + 1]]:15
    nisa.iota(nl.arange(64), dtype=nl.int32)
    # FLATEXPRESSION: 1 error for trn2 (--target)
