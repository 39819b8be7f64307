# RUN: nkijit verify %s:half -a x=8x16:float32 2>&1 | filecheck --check-prefix=HALF %s
# RUN: nkijit trace %s:half -a x=8x16:float32 2>/dev/null | filecheck --check-prefix=TEXT %s
# RUN: nkijit trace %s:half -a x=8x16:float32 2>/dev/null | nkijit-opt | filecheck --check-prefix=TEXT %s
# RUN: nkijit verify %s:optional -a x=8x16:float32 -a y=8x16:float32 2>&1 | filecheck --check-prefix=OPTIONAL %s
# RUN: nkijit verify %s:optional -a x=8x16:float32 | filecheck --check-prefix=LEFTOUT %s

# Masked elements of a tile are undefined; a use of them is a warning, and the IR has the reason.

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def half(x):
    out = nl.ndarray((8, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:8, 0:16]
    # TEXT: %tile = nki.alloc {masked} : memref<8x16xf32, #nki.sbuf>
    # TEXT: %tile_1 = nki.view %tile offset=0 pattern=[[16, 8], [1, 10]]
    # TEXT: nisa.dma_copy dst=%tile_1, src=%x_1
    tile = nl.load(x[i_p, i_f], mask=i_f < 10)
    # HALF: warning[read-masked]: nl.store: 'out', which is returned, gets undefined values in its elements [0:8, 0:1]
    # HALF-NEXT: --> {{.*}}masked_reads.py:[[# @LINE + 3]]:14
    # HALF: 'data' is read here, but nothing has written its elements [0:8, 10:16]
    # HALF: = help: give the same mask to what reads the tile, or fill the tile first
    nl.store(out, nisa.tensor_reduce(np.add, tile, axis=[1]))
    return out


@nki.jit
def optional(x, y=None):
    # OPTIONAL: warning[parameter-truth-value]: tensor 'y': a tensor parameter counts as true
    # OPTIONAL-NEXT: --> {{.*}}masked_reads.py:[[# @LINE + 5]]:{{12|24}}
    # OPTIONAL: = help: compare with `is not None`
    # LEFTOUT: no findings for trn2 (default)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    tile = tile if not y else nl.add(tile, nl.load(y))
    nl.store(out, tile)
    return out
