# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=1024x128:bfloat16 -a w=1024x128:float32 -a n=128x1:int32 -a f=128x1:float32 -a u=128x1:uint32 | filecheck --match-full-lines %s

# Tiles of indices that a view or a transpose cannot use; the finding marks the tile.

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def float_rows(x, w, n, f, u):
    idx = nl.load(f)
    # CHECK: error[index-tile]: nki.view: 'vector_offset' must be int32 or uint32, it is float32
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 6]]:56
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] |     nl.load(x.ap({{\[\[}}128, 128], [1, 128]], vector_offset=idx))
    # CHECK-NEXT: |                                                        ^^^
    # CHECK-NEXT: = vector_offset: %idx, sbuf 128x1 float32, allocated at {{.*}}index-tiles.py:[[# @LINE - 6]]:11
    # CHECK-NEXT: = help: allocate idx as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
    nl.load(x.ap([[128, 128], [1, 128]], vector_offset=idx))


@nki.jit
def float_offset(x, w, n, f, u):
    idx = nl.load(f[0:1])
    # CHECK: error[index-tile]: nki.view: 'idx' must be int32 or uint32, it is float32
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:22
    # CHECK: = help: allocate idx as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
    nl.load(x[0:128, idx])


@nki.jit
def float_selection(x, w, n, f, u):
    idx = nl.load(f)
    # CHECK: error[index-tile]: nki.view: 'idx' must be int32 or uint32, it is float32
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:32
    # CHECK: = help: allocate idx as nl.int32, or copy it into a tile of nl.int32 with nisa.tensor_copy, which converts the numbers
    nl.load(x.vector_select(0, idx))


@nki.jit
def rows_in_hbm(x, w, n, f, u):
    # CHECK: error[index-tile]: nki.view: 'n' must be in sbuf, it is in private_hbm
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:32
    # CHECK: = help: copy n to a tile in SBUF first, with nisa.dma_copy
    nl.load(x.vector_select(0, n))


@nki.jit
def many_offsets(x, w, n, f, u):
    idx = nl.load(n)
    # CHECK: error[index-tile]: nki.view: 'scalar_offset' must have one element, it has 128
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:56
    # CHECK: = help: take one element, idx[0:1, 0:1]; rows with an index each are read from HBM with vector_offset
    nl.load(x.ap([[128, 128], [1, 128]], scalar_offset=idx))


@nki.jit
def row_of_indices(x, w, n, f, u):
    idx = nl.load(n.reshape((1, 128)))
    # CHECK: error[index-tile]: nki.view: the 128 indices go down the partitions, the index has 1
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:56
    # CHECK: = help: give idx the shape (128, 1): load the indices as a column, nl.load(indices.reshape((128, 1)))
    nl.load(x.ap([[128, 128], [1, 128]], vector_offset=idx))


@nki.jit
def fewer_indices(x, w, n, f, u):
    idx = nl.load(n[0:64])
    # CHECK: error[index-tile]: nki.view: dim 0 of the view needs 128 indices, there are 64
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:56
    # CHECK: = help: give idx the shape (128, 1), or the view 64 rows
    nl.load(x.ap([[128, 128], [1, 128]], vector_offset=idx))


@nki.jit
def transposed_by_int32(x, w, n, f, u):
    idx = nl.load(n)
    turned = nl.ndarray((128, 128), nl.bfloat16, buffer=nl.sbuf)
    # CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the indices are uint32, not int32
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 6]]:32
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] |     nisa.dma_transpose(turned, x.ap({{\[\[}}128, 128], [1, 128]], vector_offset=idx))
    # CHECK-NEXT: |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    # CHECK-NEXT: = src: %x, private_hbm 128x128 bfloat16, a view of %x (private_hbm 1024x128 bfloat16), an argument of the kernel
    # CHECK-NEXT: = help: allocate the index tile idx as nl.uint32; idx.view(nl.uint32) reads its bits
    nisa.dma_transpose(turned, x.ap([[128, 128], [1, 128]], vector_offset=idx))


@nki.jit
def transposed_float32(x, w, n, f, u):
    idx = nl.load(u)
    turned = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
    # CHECK: error[gather-transpose]: nisa.dma_transpose: with indices 'src' has elements of 2 bytes, it is float32
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:32
    # CHECK: = help: store 'src' as nl.bfloat16, or gather with nisa.dma_copy and transpose with nisa.nc_transpose
    nisa.dma_transpose(turned, w.vector_select(0, idx))


@nki.jit
def transposed_by_20(x, w, n, f, u):
    idx = nl.load(u[0:20])
    turned = nl.ndarray((128, 20), nl.bfloat16, buffer=nl.sbuf)
    # CHECK: error[gather-transpose]: nisa.dma_transpose: with indices the rows of 'src' are a multiple of 16, there are 20
    # CHECK-NEXT: --> {{.*}}index-tiles.py:[[# @LINE + 2]]:32
    # CHECK: = help: pad the indices to 32, e.g. with 0, or gather with nisa.dma_copy and transpose with nisa.nc_transpose
    nisa.dma_transpose(turned, x.vector_select(0, idx))
