# RUN: not nkijit verify %s:undocumented -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=UNDOCUMENTED %s
# RUN: not nkijit verify %s:perf_mode -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=PERFMODE %s
# RUN: not nkijit verify %s:skipped_addition -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=SKIPPEDADDITION %s
# RUN: not nkijit verify %s:dtype_of_destination -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=DTYPEOFDESTINATION %s
# RUN: not nkijit verify %s:custom -a x=128x64:float32 -t trn2 2>&1 | filecheck --match-full-lines --check-prefix=CUSTOM %s

# Arguments that are not documented, or not modelled. They end the trace, at the author's line.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def undocumented(x):
    # UNDOCUMENTED: error[unsupported]: nisa.reciprocal: arguments that are not documented: 'precision'
    # UNDOCUMENTED-NEXT: --> {{.*}}arguments.py:[[# @LINE + 1]]:5
    nisa.reciprocal(nl.load(x), precision="high")
    # UNDOCUMENTED: 1 error for trn2 (--target)


@nki.jit
def perf_mode(x):
    tile = nl.load(x)
    # PERFMODE: error[unsupported]: nisa.nc_matmul: 'perf_mode' is 'double_column_gen9'
    # PERFMODE-NEXT: --> {{.*}}arguments.py:[[# @LINE + 1]]:5
    nisa.nc_matmul(tile, tile, perf_mode="double_column_gen9")
    # PERFMODE: 1 error for trn2 (--target)


@nki.jit
def skipped_addition(x):
    tile = nl.load(x)
    # SKIPPEDADDITION: error[dma-arguments]: nisa.dma_copy: with 'dst_rmw_op' 'oob_mode' must be error
    # SKIPPEDADDITION-NEXT: --> {{.*}}arguments.py:[[# @LINE + 1]]:47
    nisa.dma_copy(dst=tile, src=x, dst_rmw_op=np.add, oob_mode=nisa.oob_mode.skip)
    # SKIPPEDADDITION: 1 error for trn2 (--target)


@nki.jit
def dtype_of_destination(x):
    tile = nl.load(x)
    ones = nl.full((128, 64), 1, dtype=nl.uint8)
    # DTYPEOFDESTINATION: error[unsupported]: nisa.tensor_copy_predicated: 'dtype' is float16, 'tile' has elements of type float32
    # DTYPEOFDESTINATION-NEXT: --> {{.*}}arguments.py:[[# @LINE + 1]]:75
    nisa.tensor_copy_predicated(src=tile, dst=tile, predicate=ones, dtype=nl.float16)
    # DTYPEOFDESTINATION: 1 error for trn2 (--target)


@nki.jit
def custom(x):
    # CUSTOM: error[unsupported]: nisa.builtin_custom_op: function 'f' of library 'lib.so'
    # CUSTOM-NEXT: --> {{.*}}arguments.py:[[# @LINE + 1]]:5
    nisa.builtin_custom_op("f", "lib.so", 1, 1, [x], [x])
    # CUSTOM: 1 error for trn2 (--target)
