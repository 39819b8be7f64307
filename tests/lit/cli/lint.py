# RUN: nkijit verify %s:scan -a x=4x128x512:float32 | filecheck --match-full-lines --check-prefix=SCAN %s
# RUN: nkijit verify %s:never_read -a x=4x128x512:float32 | filecheck --match-full-lines --check-prefix=NEVER %s
# RUN: nkijit verify %s:positions -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=ROW %s

# An unrolled loop has one source text: work that only its last iteration does not need is not
# reported.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# The carry is not needed after the last part, nor is the tile for a part that does not come.
# SCAN: no findings for trn3 (default)
@nki.jit
def scan(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((128, 1), dtype=nl.float32)
    following = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    for i in range(4):
        tile, following = following, nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i])
        sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor_scan(
            dst=sums, data0=tile, data1=tile, initial=carry, op0=nl.multiply, op1=nl.add
        )
        nisa.tensor_copy(dst=carry, src=sums[:, 511:512])
        nisa.dma_copy(dst=out[i], src=sums)
    return out


# No iteration reads this one.
@nki.jit
def never_read(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    carry = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(4):
        tile = nl.load(x[i])
        # NEVER: warning[dead-store]: nisa.tensor_copy: nothing reads what it writes: about 64 cycles, 4 times
        # NEVER-NEXT: --> {{.*}}lint.py:[[# @LINE + 4]]:30
        # NEVER-NEXT: |
        # NEVER-NEXT: [[# @LINE + 2]] | nisa.tensor_copy(dst=carry, src=tile[:, 511:512])
        # NEVER: 1 warning for trn3 (default)
        nisa.tensor_copy(dst=carry, src=tile[:, 511:512])
        nl.store(out[i], tile)
    return out


# Nothing is loaded that could be laid over more partitions. The addition reads the row.
@nki.jit
def positions(x):
    # ROW: warning[few-partitions]: nisa.tensor_scalar: uses 1 of 128 partitions; laid over all of them it would take about {{[0-9]+}} cycles less
    out = nl.ndarray((1, 2048), nl.float32, buffer=nl.shared_hbm)
    row = nl.ndarray((1, 2048), nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=row, pattern=[[1, 2048]], offset=0)
    later = nl.ndarray((1, 2048), nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=later, data=row, op0=nl.add, operand0=1.0)
    nl.store(out, later)
    # ROW: 1 warning for trn3 (default)
    return out
