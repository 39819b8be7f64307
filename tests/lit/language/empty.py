# RUN: nkijit verify %s:remainder | filecheck --check-prefix=REMAINDER %s
# RUN: nkijit trace %s:remainder 2>/dev/null | filecheck --check-prefix=IR %s
# RUN: nkijit run %s:remainder | filecheck --check-prefix=VALUES %s
# RUN: not nkijit verify %s:reduction | filecheck --check-prefix=REDUCTION %s
# RUN: not nkijit verify %s:contraction | filecheck --check-prefix=CONTRACTION %s
# RUN: not nkijit verify %s:shapes | filecheck --check-prefix=SHAPES %s
# RUN: not nkijit verify %s:result | filecheck --check-prefix=RESULT %s
# RUN: not nkijit verify %s:backwards | filecheck --check-prefix=BACKWARDS %s
# RUN: nkijit verify %s:classic | filecheck --check-prefix=CLASSIC %s

# Slices without elements: instructions on them are left out, with a note.

import neuronxcc.nki as classic_nki
import neuronxcc.nki.language as cl
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
@nki.example(x="4x8:float32")
def remainder(x):
    out = nl.ndarray((4, 4), x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((4, 4), x.dtype, buffer=nl.sbuf)
    nisa.memset(tile, 1.0)
    for start in range(0, 5, 4):
        end = min(start + 4, 4)
        # REMAINDER: warning[empty-slice]: nisa.tensor_scalar: 'part' (4, 0) is empty, so the instruction is left out
        # REMAINDER-NEXT: --> {{.*}}empty.py:[[# @LINE + 3]]:
        # REMAINDER: = help: nothing to do if the slice is meant to be empty here, e.g. after the last whole tile
        part = tile[:, start:end]
        nisa.tensor_scalar(part, part, nl.add, 1.0)
    # IR: nisa.memset
    # IR-NEXT: nisa.tensor_scalar
    # IR-NOT: nisa.tensor_scalar
    # REMAINDER: warning[empty-slice]: nisa.dma_copy: 'out[4:4]' (0, 4) is empty, so the instruction is left out
    nisa.dma_copy(out[4:4], tile[0:0])
    # REMAINDER: warning[empty-slice]: nl.load: 'dst' (4, 0) is empty, so the instruction is left out
    nothing = nl.load(x[:, nl.ds(0, 0)])
    assert nothing.shape == (4, 0)
    # REMAINDER: warning[empty-slice]: nisa.memset: 'empty' (128, 0) is empty, so the instruction is left out
    empty = nl.ndarray((128, 0), x.dtype, buffer=nl.sbuf)
    nisa.memset(empty, 1.0)
    # REMAINDER-NOT: {{.*}}[
    # REMAINDER: 4 warnings
    # VALUES: 2. 2. 2. 2.
    nisa.dma_copy(out, tile)
    return out


@nki.jit
@nki.example(x="128x8:float32")
def reduction(x):
    out = nl.ndarray((128, 1), x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # REDUCTION: error[empty-operand]: nl.max: 'data' (128, 0) is empty, so nothing would be written to 'dst' (128, 1)
    # REDUCTION-NEXT: --> {{.*}}empty.py:[[# @LINE + 2]]:
    # REDUCTION: = help: call the instruction only if the slice has elements, else fill its results with nisa.memset
    most = nl.max(tile[:, 3:3], axis=1)
    nl.store(out, most)
    return out


@nki.jit
@nki.example(x="128x8:float32")
def contraction(x):
    out = nl.ndarray((8, 8), x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    product = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
    # CONTRACTION: error[empty-operand]: nisa.nc_matmul: 'tile[0:0]' (0, 8) is empty, so nothing would be written to 'product' (8, 8)
    nisa.nc_matmul(product, stationary=tile[0:0], moving=tile[0:0])
    result = nl.copy(product)
    nl.store(out, result)
    return out


@nki.jit
@nki.example(x="128x8:float32")
def shapes(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # SHAPES: error[empty-operand]: nisa.dma_copy: 'out[0:0]' (0, 8) is empty, but 'tile[0:4]' has shape (4, 8)
    # SHAPES: = help: let both have the same shape
    nisa.dma_copy(dst=out[0:0], src=tile[0:4])
    nl.store(out, tile)
    return out


@nki.jit
@nki.example(x="128x8:float32")
# RESULT: error[return-value]: kernel 'result': the result is tensor 'out' of shape (0, 8), which has no elements
def result(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out[3:3]


@nki.jit
@nki.example(x="128x8:float32")
def backwards(x):
    # BACKWARDS: error[view]: view of 'x': slice 5:3 of dim 1 ends before it starts; the shape is (128, 8); legal: 0 <= start <= end <= 8, step >= 1
    return x[:, 5:3]


@classic_nki.jit
@nki.example(x="128x8:float32")
def classic(x):
    out = cl.ndarray(x.shape, dtype=x.dtype, buffer=cl.shared_hbm)
    p, f = cl.mgrid[0:128, 0:8]
    tile = cl.load(x)
    # CLASSIC: warning[empty-slice]: nl.exp: 'dst' (128, 0) is empty, so the instruction is left out
    # CLASSIC-NEXT: --> {{.*}}empty.py:[[# @LINE + 1]]:
    nothing = cl.exp(tile[cl.arange(128)[:, None], cl.arange(0)[None, :]])
    assert nothing.shape == (128, 0)
    # CLASSIC: warning[empty-slice]: nl.store: 'mask' holds nowhere in (128, 8), so the instruction is left out
    # CLASSIC-NEXT: --> {{.*}}empty.py:[[# @LINE + 1]]:
    cl.store(out[p, f], tile[p, f], mask=f > 8)
    # CLASSIC: warning[empty-slice]: nl.store: 'dst' (0, 8) is empty, so the instruction is left out
    cl.store(out[5:5], tile[5:5])
    # CLASSIC: 3 warnings
    cl.store(out, tile)
    return out
