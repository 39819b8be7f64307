# RUN: not nkijit verify %s -a x=130x64:float32 > %t
# RUN: filecheck --match-full-lines %s < %t

# Mistakes about addresses as an author sees them: a slice that starts inside a quadrant, a move
# inside a tile, and a loop that leaves its tensor.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# CHECK: error[start-partition]: nisa.tensor_copy: 'src' starts at partition 48; with 16 partitions it can start at 0, 32, 64 or 96
# CHECK-NEXT: --> {{.*}}verify-access.py:[[# @LINE + 21]]:36
# CHECK-NEXT: |
# CHECK-NEXT: {{[0-9]+}} |     nisa.tensor_copy(dst=part, src=tile[48:64, :])
# CHECK-NEXT: | ^^^^^^^^^^^^^^
# CHECK-NEXT: = src: %tile, sbuf 16x64 float32, a view of %tile (sbuf 128x64 float32), allocated at {{.*}}verify-access.py:{{[0-9]+}}:12
# CHECK-NEXT: = help: give the rows a tile of their own, or move them to a legal partition with nisa.dma_copy
# CHECK: error[index-bounds]: nisa.dma_copy: the index of 'src' goes from 0 to 130, legal are 0 to 129
# CHECK: {{[0-9]+}} |         nisa.dma_copy(dst=row, src=x[nl.ds(i, 1)])
# CHECK: ::: {{.*}}verify-access.py:{{[0-9]+}}:{{5|14}}
# CHECK-NEXT: |
# CHECK-NEXT: {{[0-9]+}} |     for i in nl.dynamic_range(131):
# CHECK-NEXT: | {{ *-+}} the index counts here
# CHECK: warning[overlap]: nisa.tensor_copy: 'dst' overlaps 'src', whose elements are overwritten before they are read
# CHECK: {{[0-9]+}} |     nisa.tensor_copy(dst=tile[:, 1:64], src=tile[:, 0:63])
@nki.jit
def shifted(x):
    out = nl.ndarray((16, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    part = nl.ndarray((16, 64), dtype=x.dtype, buffer=nl.sbuf)
    row = nl.ndarray((1, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[0:128, :])
    nisa.tensor_copy(dst=part, src=tile[48:64, :])
    nisa.tensor_copy(dst=tile[:, 1:64], src=tile[:, 0:63])
    for i in nl.dynamic_range(131):
        nisa.dma_copy(dst=row, src=x[nl.ds(i, 1)])
    nisa.dma_copy(dst=out, src=part)
    return out


# CHECK: 2 errors and 1 warning for trn3 (default)
