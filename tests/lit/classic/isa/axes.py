# RUN: not nkijit verify %s:partition_axis -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PARTITIONAXIS %s
# RUN: not nkijit verify %s:five_axes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=FIVEAXES %s
# RUN: not nkijit verify %s:no_such_axis -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOSUCHAXIS %s
# RUN: not nkijit verify %s:axis_of_no_integer -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=AXISOFNOINTEGER %s
# RUN: not nkijit verify %s:rank_of_transpose -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=RANKOFTRANSPOSE %s

# The axes of reductions and transposes. They end the trace, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def partition_axis(x):
    # PARTITIONAXIS: error[reduce-axes]: nisa.tensor_reduce: axis is [0]; legal for this tile are [1]
    # PARTITIONAXIS-NEXT: --> {{.*}}axes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis=0)
    # PARTITIONAXIS: 1 error for trn2 (--target)


@nki.jit
def five_axes(x):
    tile = nl.load(x).reshape((128, 2, 2, 2, 2, 4))
    # FIVEAXES: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 2, 3, 4, 5]; legal for this tile are [5], [4, 5], [3, 4, 5], [2, 3, 4, 5]
    # FIVEAXES-NEXT: --> {{.*}}axes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, tile, axis=[1, 2, 3, 4, 5])
    # FIVEAXES: 1 error for trn2 (--target)


@nki.jit
def no_such_axis(x):
    # NOSUCHAXIS: error[reduce-axes]: nisa.tensor_reduce: axis is [5]; legal for this tile are [1]
    # NOSUCHAXIS-NEXT: --> {{.*}}axes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis=5)
    # NOSUCHAXIS: 1 error for trn2 (--target)


@nki.jit
def axis_of_no_integer(x):
    # AXISOFNOINTEGER: error[argument]: nisa.tensor_reduce: 'axis': expected an integer or several, got 'x'
    # AXISOFNOINTEGER-NEXT: --> {{.*}}axes.py:[[# @LINE + 1]]:49
    nisa.tensor_reduce(np.add, nl.load(x), axis="x")
    # AXISOFNOINTEGER: 1 error for trn2 (--target)


@nki.jit
def rank_of_transpose(x):
    # RANKOFTRANSPOSE: error[transpose-axes]: nisa.dma_transpose: 'src' has 5 dimensions, 2 to 4 can be transposed
    # RANKOFTRANSPOSE-NEXT: --> {{.*}}axes.py:[[# @LINE + 1]]:24
    nisa.dma_transpose(nl.load(x).reshape((128, 2, 2, 4, 4)))
    # RANKOFTRANSPOSE: 1 error for trn2 (--target)
