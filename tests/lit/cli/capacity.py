# RUN: nkijit verify %s:unrolled -a x=128x4096:float32 | filecheck --match-full-lines %s
# RUN: nkijit list %s:unrolled -a x=128x4096:float32 2>/dev/null | filecheck --check-prefix=LIST %s
# RUN: not nkijit verify %s:together -a x=128x4096:float32 | filecheck --check-prefix=TOGETHER %s
# RUN: nkijit verify %s:reused -a x=128x4096:float32 | filecheck --match-full-lines --check-prefix=REUSED %s
# RUN: nkijit verify %s:unrolled -a x=128x4096:bfloat16 | filecheck --match-full-lines --check-prefix=REUSED %s

# Too much in SBUF at one time: the tiles that need it, by their names and lines in the kernel.
# Sixteen tiles that one line allocates are one row.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def unrolled(x):
    out = nl.ndarray((16, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    bias = nl.ones((128, 1), dtype=nl.float32)
    tiles = []
    for _ in range(16):
        tile = nl.ndarray((128, 4096), dtype=x.dtype, buffer=nl.sbuf)
        # With the sixteenth of them 16 x 16384 + 4 bytes are in use.
        # CHECK: warning[sbuf-spill]: nisa.dma_copy: the tiles in use here need 262148 bytes per partition of SBUF, trn3 has 245752 for a kernel; a compiler fills some of them later
        # CHECK-NEXT: --> {{.*}}capacity.py:[[# @LINE + 8]]:9
        # CHECK-NEXT: |
        # CHECK-NEXT: [[# @LINE + 6]] | nisa.dma_copy(dst=tile, src=x)
        # CHECK-NEXT: | ^^^^^^^^^^^^^
        # CHECK-NEXT: = tile shape and type bytes in use allocated at
        # CHECK-NEXT: = %tile 128x4096 float32 16 x 16384 lines [[# @LINE + 3]] to [[# @LINE + 7]] {{.*}}capacity.py:[[# @LINE - 8]]:16
        # CHECK-NEXT: = %bias 128x1 float32 4 lines [[# @LINE - 12]] to [[# @LINE + 5]] {{.*}}capacity.py:[[# @LINE - 12]]:12
        # CHECK-NEXT: = help: keep at most 14 of the 16 tiles 'tile' in use at a time
        nisa.dma_copy(dst=tile, src=x)
        tiles.append(tile)
    for i, tile in enumerate(tiles):
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=bias)
        nisa.dma_copy(dst=out[i], src=tile)
    return out


# CHECK: 1 warning for trn3 (default)

# As it is written it has no addresses, so that the compiler's version is listed.
# LIST: schedule compiler: {{.*}}
# LIST: SBUF {{[0-9]+}} of 245752 bytes per partition


@nki.jit
def reused(x):
    out = nl.ndarray((16, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(16):
        tile = nl.ndarray((128, 4096), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out[i], src=tile)
    return out


# REUSED: no findings for trn3 (default)


@nki.jit
def together(x):
    tiles = [nl.load(x) for _ in range(16)]
    # Nothing in between may be loaded later.
    # TOGETHER: error[sbuf-capacity]: nl.load: the tiles in use here need 262144 bytes per partition of SBUF, trn3 has 245752 for a kernel
    # TOGETHER: 1 error for trn3 (default)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    with nl.no_reorder():
        for tile in tiles:
            nisa.dma_copy(dst=out, src=tile)
    return out
