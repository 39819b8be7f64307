# A kernel that does not end is an error at the line that it executes, and the message has the way to raise the limit.

# RUN: not env NKIJIT_TRACE_LIMIT=1000 nkijit verify %s:endless -a x=4x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=ENDLESS %s
# RUN: not env NKIJIT_TRACE_LIMIT=1000 nkijit verify %s:blocks -a x=4x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=BLOCKS %s
# RUN: not env NKIJIT_TRACE_LIMIT=5 nkijit verify %s:copied -a x=4x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=SHORT %s
# RUN: env NKIJIT_TRACE_LIMIT=6 nkijit verify %s:copied -a x=4x8:float32
# RUN: not env NKIJIT_TRACE_LIMIT=many nkijit verify %s:copied -a x=4x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=WORD %s

import contextlib

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def endless(x):
    tile = nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)
    while True:
        with contextlib.suppress(ValueError):
            # ENDLESS: error[trace-limit]: kernel 'endless': its trace has more than 1000 operations, and does not end
            # ENDLESS-NEXT: --> {{.*}}trace-limit.py:[[# @LINE + 7]]:13
            # ENDLESS-NEXT: |
            # ENDLESS-NEXT: [[# @LINE + 5]] | nisa.memset(tile, 0.0)
            # ENDLESS-NEXT: | {{\^+}}
            # ENDLESS-NEXT: = help: let the loop end (`while True:` never does), loop on the device with nl.fori_loop, or set NKIJIT_TRACE_LIMIT to a higher number
            # ENDLESS-NEXT: = more: nkijit explain trace-limit
            # ENDLESS: 1 error for trn3 (default)
            nisa.memset(tile, 0.0)


@nki.jit
def blocks(x):
    # A tensor in HBM is filled by many copies.
    # BLOCKS: error[trace-limit]: kernel 'blocks': its trace has more than 1000 operations, and does not end
    # BLOCKS-NEXT: --> {{.*}}trace-limit.py:[[# @LINE + 1]]:12
    return nl.zeros((1 << 40,), nl.float32, buffer=nl.shared_hbm)


@nki.jit
def copied(x):
    # SHORT: error[trace-limit]: kernel 'copied': its trace has more than 5 operations, and does not end
    # WORD: error: NKIJIT_TRACE_LIMIT is 'many', expected a positive integer
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.tensor_scalar(tile, tile, nl.add, 1.0)
    nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
    nisa.dma_copy(out, tile)
    return out
