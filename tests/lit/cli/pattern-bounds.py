# RUN: not nkijit verify %s:shifted -a x=128x64:float32 | filecheck --match-full-lines %s
# RUN: not nkijit list %s:shifted -a x=128x64:float32 2>&1 | filecheck --check-prefix=STOPS %s
# RUN: nkijit list --no-strict %s:shifted -a x=128x64:float32 | filecheck --check-prefix=LIST %s

# An access pattern that leaves its tile is reported at the kernel's line, and does not stop a
# lenient listing.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

# STOPS: error[pattern-bounds]
# LIST: undefined: pattern-bounds
# LIST: TENSOR_COPY{{.*}}src=tile[sbuf 32, 0:128, 1:64, float32]


@nki.jit
def shifted(x):
    out = nl.ndarray((128, 56), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    moved = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    # CHECK: error[pattern-bounds]: nki.view: the pattern touches elements 8 to 71 of partitions of 64 float32
    # CHECK-NEXT: --> {{.*}}pattern-bounds.py:[[# @LINE + 2]]:37
    # CHECK: 1 error for trn3 (default)
    nisa.tensor_copy(dst=moved, src=tile.ap([[64, 128], [1, 64]], offset=8))
    nisa.dma_copy(dst=out, src=moved[:, 0:56])
    return out
