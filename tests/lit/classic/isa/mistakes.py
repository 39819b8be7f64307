# RUN: not nkijit verify %s:bias_type -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=BIASTYPE %s
# RUN: not nkijit verify %s:bias_number -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=BIASNUMBER %s
# RUN: not nkijit verify %s:partition_axis -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PARTITIONAXIS %s
# RUN: not nkijit verify %s:gap_in_axes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=GAPINAXES %s
# RUN: not nkijit verify %s:first_axes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=FIRSTAXES %s
# RUN: not nkijit verify %s:five_axes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=FIVEAXES %s
# RUN: not nkijit verify %s:no_such_axis -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOSUCHAXIS %s
# RUN: not nkijit verify %s:axis_of_no_integer -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=AXISOFNOINTEGER %s
# RUN: not nkijit verify %s:triangular -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=TRIANGULAR %s
# RUN: not nkijit verify %s:gaps_in_indices -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=GAPSININDICES %s
# RUN: not nkijit verify %s:operand_mask -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=OPERANDMASK %s
# RUN: not nkijit verify %s:triangular_operand -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=TRIANGULAROPERAND %s
# RUN: not nkijit verify %s:inside_a_quadrant -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=INSIDEAQUADRANT %s
# RUN: not nkijit verify %s:shapes -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=SHAPES %s
# RUN: not nkijit verify %s:partitions -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PARTITIONS %s
# RUN: not nkijit verify %s:no_tile -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOTILE %s
# RUN: not nkijit verify %s:undocumented -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=UNDOCUMENTED %s
# RUN: not nkijit verify %s:perf_mode -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PERFMODE %s
# RUN: not nkijit verify %s:skipped_addition -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=SKIPPEDADDITION %s
# RUN: not nkijit verify %s:masked_other_shape -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=MASKEDOTHERSHAPE %s
# RUN: not nkijit verify %s:dtype_of_destination -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=DTYPEOFDESTINATION %s
# RUN: not nkijit verify %s:no_expression -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=NOEXPRESSION %s
# RUN: not nkijit verify %s:flat_expression -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=FLATEXPRESSION %s
# RUN: not nkijit verify %s:rank_of_transpose -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=RANKOFTRANSPOSE %s
# RUN: not nkijit verify %s:custom -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=CUSTOM %s

# Mistakes that no instruction can hold end the trace, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def bias_type(x):
    bias = nl.full((128, 1), 1, dtype=nl.int8)
    # BIASTYPE: error[err_activation_bias_invalid_type]: nisa.activation: 'bias' must be a tile of float32, float16 or bfloat16, it has elements of type int8
    # BIASTYPE-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.activation(np.exp, nl.load(x), bias=bias)
    # BIASTYPE: 1 error


@nki.jit
def bias_number(x):
    total = nl.zeros((128, 1), dtype=nl.float32)
    # BIASNUMBER: error[err_activation_bias_invalid_type]: nisa.activation_reduce: 'bias' must be a tile of float32, float16 or bfloat16, it is 0.5
    # BIASNUMBER-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.activation_reduce(np.exp, nl.load(x), bias=0.5, reduce_op=np.add, reduce_res=total)
    # BIASNUMBER: 1 error


@nki.jit
def partition_axis(x):
    # PARTITIONAXIS: error[reduce-axes]: nisa.tensor_reduce: axis is [0]; legal for this tile are [1]
    # PARTITIONAXIS-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis=0)
    # PARTITIONAXIS: 1 error


@nki.jit
def gap_in_axes(x):
    tile = nl.load(x).reshape((128, 2, 4, 8))
    # GAPINAXES: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 3]; legal for this tile are [3], [2, 3], [1, 2, 3]
    # GAPINAXES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, tile, axis=[1, 3])
    # GAPINAXES: 1 error


@nki.jit
def first_axes(x):
    tile = nl.load(x).reshape((128, 2, 4, 8))
    # FIRSTAXES: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 2]; legal for this tile are [3], [2, 3], [1, 2, 3]
    # FIRSTAXES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, tile, axis=[1, 2])
    # FIRSTAXES: 1 error


@nki.jit
def five_axes(x):
    tile = nl.load(x).reshape((128, 2, 2, 2, 2, 4))
    # FIVEAXES: error[reduce-axes]: nisa.tensor_reduce: axis is [1, 2, 3, 4, 5]; legal for this tile are [5], [4, 5], [3, 4, 5], [2, 3, 4, 5]
    # FIVEAXES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, tile, axis=[1, 2, 3, 4, 5])
    # FIVEAXES: 1 error


@nki.jit
def no_such_axis(x):
    # NOSUCHAXIS: error[reduce-axes]: nisa.tensor_reduce: axis is [5]; legal for this tile are [1]
    # NOSUCHAXIS-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis=5)
    # NOSUCHAXIS: 1 error


@nki.jit
def axis_of_no_integer(x):
    # AXISOFNOINTEGER: error[argument]: nisa.tensor_reduce: 'axis': expected an integer or several, got 'x'
    # AXISOFNOINTEGER-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis="x")
    # AXISOFNOINTEGER: 1 error


@nki.jit
def triangular(x):
    i, j = nl.mgrid[0:128, 0:64]
    # TRIANGULAR: error[err_unsupported_expression_in_mask]: nisa.tensor_reduce: 'mask' leaves no block of the tile, and the function reads across elements or writes in place
    # TRIANGULAR-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_reduce(np.add, nl.load(x), axis=1, mask=j < i)
    # TRIANGULAR: 1 error


@nki.jit
def gaps_in_indices(x):
    i, j, k = nl.mgrid[0:128, 0:8, 0:8]
    one = nl.full((128, 1), 1, dtype=nl.float32)
    # GAPSININDICES: error[err_unsupported_expression_in_mask]: nisa.range_select: 'mask' leaves indices with gaps
    # GAPSININDICES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.range_select(
        on_true_tile=nl.load(x).reshape((128, 8, 8)),
        comp_op0=np.greater,
        comp_op1=np.less,
        bound0=one,
        bound1=one,
        mask=k < 5,
    )
    # GAPSININDICES: 1 error


@nki.jit
def operand_mask(x):
    j = nl.arange(64)[None, :]
    # OPERANDMASK: error[err_unsupported_expression_in_mask]: tensor 'sbuf': an operand with a mask of its own is one of a matmul
    # OPERANDMASK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_copy(nl.load(x)[j < 5])
    # OPERANDMASK: 1 error


@nki.jit
def triangular_operand(x):
    tile = nl.load(x)
    i, j = nl.mgrid[0:128, 0:64]
    # TRIANGULAROPERAND: error[err_unsupported_expression_in_mask]: nisa.nc_matmul: the mask of operand 'tile' leaves no block of the tile, and the function reads across elements or writes in place
    # TRIANGULAROPERAND-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.nc_matmul(tile[j < i], tile)
    # TRIANGULAROPERAND: 1 error


@nki.jit
def inside_a_quadrant(x):
    tile = nl.load(x)
    i = nl.arange(128)[:, None]
    # INSIDEAQUADRANT: error[err_unsupported_expression_in_mask]: nisa.nc_stream_shuffle: 'mask' leaves no block of 'dst' that begins at a quadrant
    # INSIDEAQUADRANT-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.nc_stream_shuffle(tile, tile, list(range(32)), mask=i >= 5)
    # INSIDEAQUADRANT: 1 error


@nki.jit
def shapes(x):
    tile = nl.load(x)
    # SHAPES: error[free-size-match]: nisa.tensor_tensor: operands that do not fit together: 'data1' has (128, 64), 'data2' has (128, 9)
    # SHAPES-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_tensor(tile, tile[:, 0:9], np.add)
    # SHAPES: 1 error


@nki.jit
def partitions(x):
    tile = nl.load(x)
    # PARTITIONS: error[partitions-match]: nisa.tensor_tensor: operands that do not fit together: 'data1' has (128, 64), 'data2' has (64, 64)
    # PARTITIONS-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_tensor(tile, tile[0:64], np.add)
    # PARTITIONS: 1 error


@nki.jit
def no_tile(x):
    # NOTILE: error[argument]: nisa.tensor_copy: 'src': expected a tensor, got 3.0
    # NOTILE-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_copy(3.0)
    # NOTILE: 1 error


@nki.jit
def undocumented(x):
    # UNDOCUMENTED: error[unsupported]: nisa.reciprocal: arguments that are not documented: 'precision'
    # UNDOCUMENTED-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.reciprocal(nl.load(x), precision="high")
    # UNDOCUMENTED: 1 error


@nki.jit
def perf_mode(x):
    tile = nl.load(x)
    # PERFMODE: error[unsupported]: nisa.nc_matmul: 'perf_mode' is 'double_column_gen9'
    # PERFMODE-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.nc_matmul(tile, tile, perf_mode="double_column_gen9")
    # PERFMODE: 1 error


@nki.jit
def skipped_addition(x):
    tile = nl.load(x)
    # SKIPPEDADDITION: error[dma-arguments]: nisa.dma_copy: with 'dst_rmw_op' 'oob_mode' must be error
    # SKIPPEDADDITION-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.dma_copy(dst=tile, src=x, dst_rmw_op=np.add, oob_mode=nisa.oob_mode.skip)
    # SKIPPEDADDITION: 1 error


@nki.jit
def masked_other_shape(x):
    i = nl.arange(128)[:, None]
    # MASKEDOTHERSHAPE: error[err_unsupported_expression_in_mask]: nisa.dma_copy: 'mask' is of shape (128, 64), which 'src' of shape (64, 128) has not
    # MASKEDOTHERSHAPE-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.dma_copy(dst=x, src=x.reshape((64, 128)), mask=i < 9)
    # MASKEDOTHERSHAPE: 1 error


@nki.jit
def dtype_of_destination(x):
    tile = nl.load(x)
    ones = nl.full((128, 64), 1, dtype=nl.uint8)
    # DTYPEOFDESTINATION: error[unsupported]: nisa.tensor_copy_predicated: 'dtype' is float16, 'dst' has elements of type float32
    # DTYPEOFDESTINATION-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.tensor_copy_predicated(src=tile, dst=tile, predicate=ones, dtype=nl.float16)
    # DTYPEOFDESTINATION: 1 error


@nki.jit
def no_expression(x):
    # NOEXPRESSION: error[argument]: nisa.iota: 'expr': expected an index expression, got 7
    # NOEXPRESSION-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.iota(7, dtype=nl.int32)
    # NOEXPRESSION: 1 error


@nki.jit
def flat_expression(x):
    # FLATEXPRESSION: error[err_1d_arange_not_supported]: nisa.iota: 'expr' is of shape (64,)
    # FLATEXPRESSION-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.iota(nl.arange(64), dtype=nl.int32)
    # FLATEXPRESSION: 1 error


@nki.jit
def rank_of_transpose(x):
    # RANKOFTRANSPOSE: error[transpose-axes]: nisa.dma_transpose: 'src' has 5 dimensions, 2 to 4 can be transposed
    # RANKOFTRANSPOSE-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.dma_transpose(nl.load(x).reshape((128, 2, 2, 4, 4)))
    # RANKOFTRANSPOSE: 1 error


@nki.jit
def custom(x):
    # CUSTOM: error[unsupported]: nisa.builtin_custom_op: function 'f' of library 'lib.so'
    # CUSTOM-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 1]]:5
    nisa.builtin_custom_op("f", "lib.so", 1, 1, [x], [x])
    # CUSTOM: 1 error
