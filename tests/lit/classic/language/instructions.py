# RUN: nkijit trace %s:elementwise -a x=128x64:float32 -a y=128x64:float32 -t trn2 2> %t.stderr | filecheck --match-full-lines --check-prefix=ELEMENTS %s
# RUN: nkijit trace %s:reductions -a x=128x64:float32 -t trn2 2> %t.stderr | filecheck --match-full-lines --check-prefix=REDUCED %s
# RUN: nkijit trace %s:tiles -a x=128x64:float32 -a y=128x64:float32 -t trn2 2> %t.stderr | filecheck --match-full-lines --check-prefix=TILES %s
# RUN: nkijit trace %s:memory -a x=128x64:float32 -a rows=64x1:int32 -t trn2 2> %t.stderr | filecheck --match-full-lines --check-prefix=MEMORY %s
# RUN: filecheck --match-full-lines --check-prefix=RETURNED %s < %t.stderr

# The instructions of functions of nki.language: the same number as without masks, on smaller
# access patterns, and directly into the destination of the assignment.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.language as nl


@nki.jit
def elementwise(x, y):
    first, second, row = nl.load(x), nl.load(y), nl.load(y[0:1])
    i_p, i_f = nl.mgrid[0:128, 0:64]
    # ELEMENTS: %total = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # ELEMENTS-NEXT: nisa.tensor_tensor dst=%total, data1=%[[FIRST:.*]], data2=%[[SECOND:.*]], op=add
    total = nl.add(first, second)
    # ELEMENTS-NEXT: %difference = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # ELEMENTS-NEXT: nisa.tensor_scalar dst=%difference, data=%total, op0=subtract, operand0=%c2.0, reverse0=true
    difference = 2.0 - total
    # ELEMENTS-NEXT: %exponent = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # ELEMENTS-NEXT: nisa.activation dst=%exponent, op=exp, data=%difference
    exponent = nl.exp(difference, dtype=nl.bfloat16)
    # A mask that is a block of the tile makes the access patterns smaller.
    # ELEMENTS-NEXT: %block = nki.alloc {masked} : memref<128x64xbf16, #nki.sbuf>
    # ELEMENTS-NEXT: %{{.*}} = nki.view %block offset=8 pattern=[[64, 64], [1, 56]]
    # ELEMENTS-NEXT: %{{.*}} = nki.view %exponent offset=8 pattern=[[64, 64], [1, 56]]
    # ELEMENTS-NEXT: nisa.activation dst=%{{.*}}, op=square, data=%{{.*}}
    block = nl.square(exponent, mask=(i_p < 64) & (i_f >= 8))
    # Engines start at a quarter of the partitions; DMA moves data that starts elsewhere.
    # ELEMENTS: %moved_moved = nki.alloc : memref<127x64xf32, #nki.sbuf>
    # ELEMENTS-NEXT: nisa.tensor_tensor dst=%moved_moved, data1=%{{.*}}, data2=%{{.*}}, op=maximum
    # ELEMENTS-NEXT: %[[AFTER:.*]] = nki.view %moved offset=64 pattern=[[64, 127], [1, 64]]
    # ELEMENTS-NEXT: nisa.dma_copy dst=%[[AFTER]], src=%moved_moved
    moved = nl.maximum(first, second, mask=i_p >= 1)
    # The row is repeated over partitions by a matmul with ones.
    # ELEMENTS: nisa.nc_matmul dst=%row_product, stationary=%ones, moving=%row, is_stationary_onezero=true, accumulate=false
    # ELEMENTS-NEXT: nisa.tensor_copy dst=%row_rows, src=%row_product
    # ELEMENTS-NEXT: nisa.tensor_tensor dst=%wide, data1=%[[FIRST]], data2=%row_rows, op=multiply
    wide = nl.multiply(first, row)
    # ELEMENTS-NEXT: %larger = nki.alloc : memref<128x64xi1, #nki.sbuf>
    # ELEMENTS-NEXT: nisa.tensor_tensor dst=%larger, data1=%[[FIRST]], data2=%[[SECOND]], op=greater
    larger = first > second
    # ELEMENTS-NEXT: %[[FROM:.*]] = nki.view %[[SECOND]] offset=0 pattern=[[64, 64], [1, 64]]
    # ELEMENTS-NEXT: %[[TO:.*]] = nki.view %[[FIRST]] offset=0 pattern=[[64, 64], [1, 64]]
    # ELEMENTS-NEXT: nisa.activation dst=%[[TO]], op=sqrt, data=%[[FROM]]
    first[0:64] = nl.sqrt(second[0:64])
    # ELEMENTS-NEXT: nisa.tensor_scalar dst=%[[FIRST]], data=%[[FIRST]], op0=multiply, operand0=%c3.0
    first *= 3.0
    # ELEMENTS-NEXT: nki.return


@nki.jit
def reductions(x):
    tile = nl.load(x)
    i_f = nl.arange(64)[None, :]
    # REDUCED: %largest = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # REDUCED-NEXT: nisa.tensor_reduce dst=%largest, op=maximum, data=%tile, axis=[1]
    largest = nl.max(tile, axis=1)
    # REDUCED: %[[HALF:.*]] = nki.view %tile offset=0 pattern=[[64, 128], [1, 32]]
    # REDUCED-NEXT: nisa.tensor_reduce dst=%half, op=add, data=%[[HALF]], axis=[1]
    half = nl.sum(tile, axis=[1], mask=i_f < 32, keepdims=True)
    columns = nl.ndarray((128, 4), np.float32)
    # REDUCED: %[[COLUMN:.*]] = nki.view %columns offset=2 pattern=[[4, 128], [1, 1]]
    # REDUCED-NEXT: nisa.tensor_reduce dst=%[[COLUMN]], op=minimum, data=%tile, axis=[1]
    columns[:, 2:3] = nl.min(tile, axis=1)
    # REDUCED: nisa.tensor_reduce dst=%total, op=add, data=%tile, axis=[1]
    # REDUCED-NEXT: nisa.tensor_scalar dst=%mean, data=%total, op0=multiply, operand0=%c0.015625
    mean = nl.mean(tile, axis=1)
    # REDUCED: nisa.activation_reduce dst=%exponentials, op=exp, data=%tile, reduce_op=add, reduce_res=%[[SUM:.*]], bias=%negative_max
    # REDUCED-NEXT: nisa.reciprocal dst=%[[SUM]], data=%[[SUM]]
    # REDUCED-NEXT: nisa.tensor_scalar dst=%normal, data=%exponentials, op0=multiply, operand0=%[[SUM]]
    # REDUCED-NEXT: nki.return
    normal = nl.ndarray((128, 64), np.float32)
    normal[...] = nl.softmax(tile, axis=1)


@nki.jit
def tiles(x, y):
    left, right = nl.load(x), nl.load(y)
    # Nothing but matmuls has filled the tile: the first overwrites, and no zeros are written.
    # TILES: %total = nki.alloc : memref<64x64xf32, #nki.psum>
    # TILES-NEXT: nisa.nc_matmul dst=%total, stationary=%[[X:.*]], moving=%[[Y:.*]], accumulate=false
    # TILES-NEXT: nisa.nc_matmul dst=%total, stationary=%[[Y]], moving=%[[X]], accumulate=true
    total = nl.zeros((64, 64), np.float32, buffer=nl.psum)
    total += nl.matmul(left, right, transpose_x=True)
    total += nl.matmul(right, left, transpose_x=True)
    # TILES: nisa.nc_transpose dst=%turned, data=%[[X]], engine=tensor
    turned = nl.transpose(left)
    # TILES: %[[COLUMN:.*]] = nki.view %[[X]] offset=0 pattern=[[64, 128], [0, 64]]
    # TILES-NEXT: nisa.tensor_copy dst=%wide, src=%[[COLUMN]]
    wide = nl.broadcast_to(left[:, 0:1], shape=(128, 64))
    # TILES: nki.device_print "some", %{{.*}}
    nl.device_print("some", left[:, 0:2])


@nki.jit
def memory(x, rows):
    out = nl.ndarray((128, 64), np.float32, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:64]
    # MEMORY: %part = nki.alloc {masked} : memref<128x64xf32, #nki.sbuf>
    # MEMORY-NEXT: %[[TO:.*]] = nki.view %part offset=192 pattern=[[64, 125], [1, 60]]
    # MEMORY-NEXT: %[[FROM:.*]] = nki.view %x offset=192 pattern=[[64, 125], [1, 60]]
    # MEMORY-NEXT: nisa.dma_copy dst=%[[TO]], src=%[[FROM]]
    part = nl.load(x[i_p, i_f], mask=(i_p >= 3) & (i_f < 60))
    # A selection that is not a block needs several DMAs.
    # MEMORY-NEXT: %corner = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MEMORY-NEXT: nisa.memset dst=%corner, value=0
    # MEMORY: nisa.dma_copy dst=%{{.*}}, src=%[[TWO:.*]]
    # MEMORY: nisa.dma_copy dst=%{{.*}}, src=%[[ONE:.*]]
    corner = nl.load(x, mask=i_p + i_f < 2)
    # MEMORY-NEXT: nisa.dma_copy dst=%out, src=%part
    nl.store(out, part)
    # MEMORY: %[[FLIPPED:.*]] = nki.view %out offset=63 pattern=[[64, 128], [-1, 64]]
    # MEMORY-NEXT: nisa.dma_copy dst=%[[FLIPPED]], src=%corner
    nl.store(out[i_p, 63 - i_f], corner)
    # MEMORY: nisa.memset dst=%fill, value=5.0
    # MEMORY-NEXT: %[[TOP:.*]] = nki.view %out offset=0 pattern=[[64, 4], [1, 64]]
    # MEMORY-NEXT: nisa.dma_copy dst=%[[TOP]], src=%fill
    nl.store(out[0:4], 5.0)
    # The Tensor Engine transposes float32.
    # MEMORY: nisa.dma_copy dst=%[[PLAIN:.*]], src=%x
    # MEMORY: nisa.nc_transpose dst=%[[TURNED:.*]], data=%[[PLAIN]], engine=tensor
    # MEMORY-NEXT: nisa.tensor_copy dst=%turned, src=%[[TURNED]]
    turned = nl.load_transpose2d(x)
    # MEMORY: nisa.dma_compute dst=%[[ADDED:.*]], srcs=[%[[ADDED]], %value], reduce_op=add
    nl.atomic_rmw(out[nl.load(rows), nl.arange(64)[None, :]], 1.0, op=np.add)
    # A tile that is returned is copied.
    # MEMORY: nisa.dma_copy dst=%[[HBM:.*]], src=%part
    # MEMORY-NEXT: nki.return %[[HBM]]
    # RETURNED: warning[returned-tile]: kernel 'memory': the kernel returns tile 'part' in sbuf; the vendor's compiler takes results in HBM only
    # RETURNED: = help: store the tile to a tensor allocated with buffer=nl.shared_hbm and return that
    return part
