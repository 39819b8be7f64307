# An index that a run reads is out of bounds: the error names the element of the index tile.
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %t
# RUN: env NKIJIT_BACKEND=numpy not nkijit run %s:rows -i t=%t/t.npy -i ids=%t/ids.npy 2>&1 | filecheck --check-prefix=ROWS %s
# RUN: env NKIJIT_BACKEND=native not nkijit run %s:rows -i t=%t/t.npy -i ids=%t/ids.npy 2>&1 | filecheck --check-prefix=ROWS %s
# RUN: nkijit run %s:present_rows -i t=%t/t.npy -i ids=%t/ids.npy | filecheck --check-prefix=PRESENT %s
# RUN: not nkijit run %s:window -i t=%t/t.npy -i ids=%t/ids.npy 2>&1 | filecheck --check-prefix=WINDOW %s
# RUN: not nkijit run %s:columns -i t=%t/t.npy -i ids=%t/positions.npy 2>&1 | filecheck --check-prefix=COLUMNS %s
# RUN: not nkijit run %s:classic -i t=%t/t.npy -i ids=%t/ids.npy 2>&1 | filecheck --check-prefix=CLASSIC %s

import sys
from pathlib import Path

import numpy as np

import neuronxcc.nki as classic_nki
import neuronxcc.nki.language as cl
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rows(t, ids):
    i = nl.load(ids)
    tile = nl.ndarray((8, 4), t.dtype, buffer=nl.sbuf)
    # ROWS: error[index-bounds]: nisa.dma_copy: the index of 'src' is out of bounds: %i[5, 0] is 1000; 2 of 8 are out of 0 to 999
    # ROWS-NEXT: --> {{.*}}indices.py:[[# @LINE + 3]]:25
    # ROWS: = index of src: %i, sbuf 8x1 int32, allocated at {{.*}}indices.py:[[# @LINE - 4]]:9
    # ROWS-NEXT: = help: let %i hold numbers from 0 to 999; nisa.dma_copy(…, oob_mode=nisa.oob_mode.skip) leaves out rows with other numbers
    nisa.dma_copy(tile, t.ap([[4, 8], [1, 4]], vector_offset=i))
    out = nl.ndarray((8, 4), t.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


# PRESENT: 2. 2. 2. 2.
# PRESENT-NEXT: 0. 0. 0. 0.
# PRESENT-NEXT: 0. 0. 0. 0.
@nki.jit
def present_rows(t, ids):
    i = nl.load(ids)
    tile = nl.zeros((8, 4), t.dtype, buffer=nl.sbuf)
    source = t.ap([[4, 8], [1, 4]], vector_offset=i)
    nisa.dma_copy(tile, source, oob_mode=nisa.oob_mode.skip)
    out = nl.ndarray((3, 4), t.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile[4:7])
    return out


@nki.jit
def window(t, ids):
    first = nisa.register_alloc()
    nisa.register_load(first, ids[5:6])
    tile = nl.ndarray((4, 4), t.dtype, buffer=nl.sbuf)
    # WINDOW: error[index-bounds]: nisa.dma_copy: the index of 'src' is out of bounds: %first is 1000, legal are 0 to 996
    # WINDOW-NEXT: --> {{.*}}indices.py:[[# @LINE + 2]]:25
    # WINDOW: = help: let %first hold numbers from 0 to 996; nisa.dma_copy(…, oob_mode=nisa.oob_mode.skip) leaves out the instruction
    nisa.dma_copy(tile, t[nl.ds(first, 4)])
    out = nl.ndarray((4, 4), t.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def columns(t, ids):
    i = nl.load(ids)
    data = nl.load(t[0:4])
    tile = nl.ndarray((4, 2), t.dtype, buffer=nl.sbuf)
    # COLUMNS: error[index-bounds]: nisa.nc_n_gather: 'indices' is out of bounds: %i[3, 2] is 4; 1 of 8 is out of 0 to 3
    # COLUMNS-NEXT: --> {{.*}}indices.py:[[# @LINE + 2]]:34
    # COLUMNS: = help: let %i hold numbers from 0 to 3; nisa.nc_n_gather has no oob_mode=, with which it could leave out others
    nisa.nc_n_gather(tile, data, i[:, 1:3])
    out = nl.ndarray((4, 2), t.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


@classic_nki.jit
def classic(t, ids):
    out = cl.ndarray((8, 4), dtype=t.dtype, buffer=cl.shared_hbm)
    p, f = cl.mgrid[0:8, 0:4]
    chosen = cl.load(ids)
    # The headline has the text of NumPy; the note has the kernel's names.
    # CLASSIC: index 4000 is out of bounds for axis 0 with size 4000
    # CLASSIC-NEXT: error[index-bounds]: nl.load: the index of 'src' is out of bounds: %chosen[5, 0] is 1000; 2 of 8 are out of 0 to 999
    # CLASSIC-NEXT: --> {{.*}}indices.py:[[# @LINE + 1]]:27
    cl.store(out, cl.load(t[chosen[p, 0], f]))
    return out


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    np.save(folder / "t.npy", np.repeat(np.arange(1000, dtype=np.float32), 4).reshape(1000, 4))
    ids = np.array([[0], [1], [2], [3], [2], [1000], [-1], [999]], np.int32)
    np.save(folder / "ids.npy", ids)
    positions = np.zeros((4, 3), np.uint32)
    positions[3, 2] = 4
    np.save(folder / "positions.npy", positions)
