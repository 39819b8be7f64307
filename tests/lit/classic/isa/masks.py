# RUN: not nkijit verify %s:triangular -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=TRIANGULAR %s
# RUN: not nkijit verify %s:gaps_in_indices -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=GAPSININDICES %s
# RUN: not nkijit verify %s:operand_mask -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=OPERANDMASK %s
# RUN: not nkijit verify %s:triangular_operand -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=TRIANGULAROPERAND %s
# RUN: not nkijit verify %s:inside_a_quadrant -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=INSIDEAQUADRANT %s
# RUN: not nkijit verify %s:masked_other_shape -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=MASKEDOTHERSHAPE %s

# Masks that an instruction cannot be made smaller by. They end the trace, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def triangular(x):
    i, j = nl.mgrid[0:128, 0:64]
    # TRIANGULAR: error[err_unsupported_expression_in_mask]: nisa.tensor_reduce: 'mask' leaves no block of the tile, and the function reads across elements or writes in place
    # TRIANGULAR-NEXT: --> {{.*}}masks.py:[[# @LINE + 1]]:57
    nisa.tensor_reduce(np.add, nl.load(x), axis=1, mask=j < i)
    # TRIANGULAR: 1 error for trn2 (--target)


@nki.jit
def gaps_in_indices(x):
    k = nl.mgrid[0:128, 0:8, 0:8].y
    one = nl.full((128, 1), 1, dtype=nl.float32)
    # GAPSININDICES: error[err_unsupported_expression_in_mask]: nisa.range_select: 'mask' leaves indices with gaps
    # GAPSININDICES-NEXT: --> {{.*}}masks.py:[[# @LINE + 7]]:14
    nisa.range_select(
        on_true_tile=nl.load(x).reshape((128, 8, 8)),
        comp_op0=np.greater,
        comp_op1=np.less,
        bound0=one,
        bound1=one,
        mask=k < 5,
    )
    # GAPSININDICES: 1 error for trn2 (--target)


@nki.jit
def operand_mask(x):
    j = nl.arange(64)[None, :]
    # OPERANDMASK: error[err_unsupported_expression_in_mask]: tensor 'sbuf': an operand with a mask of its own is one of a matmul
    # OPERANDMASK-NEXT: --> {{.*}}masks.py:[[# @LINE + 1]]:5
    nisa.tensor_copy(nl.load(x)[j < 5])
    # OPERANDMASK: 1 error for trn2 (--target)


@nki.jit
def triangular_operand(x):
    tile = nl.load(x)
    i, j = nl.mgrid[0:128, 0:64]
    # TRIANGULAROPERAND: error[err_unsupported_expression_in_mask]: nisa.nc_matmul: the mask of operand 'tile' leaves no block of the tile, and the function reads across elements or writes in place
    # TRIANGULAROPERAND-NEXT: --> {{.*}}masks.py:[[# @LINE + 1]]:5
    nisa.nc_matmul(tile[j < i], tile)
    # TRIANGULAROPERAND: 1 error for trn2 (--target)


@nki.jit
def inside_a_quadrant(x):
    tile = nl.load(x)
    i = nl.arange(128)[:, None]
    # INSIDEAQUADRANT: error[err_unsupported_expression_in_mask]: nisa.nc_stream_shuffle: 'mask' leaves no block of 'tile' that begins at a quadrant
    # INSIDEAQUADRANT-NEXT: --> {{.*}}masks.py:[[# @LINE + 1]]:62
    nisa.nc_stream_shuffle(tile, tile, list(range(32)), mask=i >= 5)
    # INSIDEAQUADRANT: 1 error for trn2 (--target)


@nki.jit
def masked_other_shape(x):
    i = nl.arange(128)[:, None]
    # MASKEDOTHERSHAPE: error[err_unsupported_expression_in_mask]: nisa.dma_copy: 'mask' is of shape (128, 64), which 'x.reshape((64, 128))' of shape (64, 128) has not
    # MASKEDOTHERSHAPE-NEXT: --> {{.*}}masks.py:[[# @LINE + 1]]:57
    nisa.dma_copy(dst=x, src=x.reshape((64, 128)), mask=i < 9)
    # MASKEDOTHERSHAPE: 1 error for trn2 (--target)
