# RUN: nkijit trace %s:results -a x=128x64:bfloat16 -t trn2 | filecheck --match-full-lines --check-prefix=RESULTS %s
# RUN: nkijit trace %s:masks -a x=128x64:float32 -t trn2 | filecheck --match-full-lines --check-prefix=MASKS %s
# RUN: nkijit trace %s:made -a x=128x64:float32 -t trn2 | filecheck --match-full-lines --check-prefix=MADE %s
# RUN: nkijit trace %s:products -a x=128x64:bfloat16 -t trn2 | filecheck --match-full-lines --check-prefix=PRODUCTS %s
# RUN: nkijit trace %s:moves -a x=128x64:float32 -a rows=4x1:int32 -t trn2 | filecheck --match-full-lines --check-prefix=MOVES %s

# Instructions of the classic API are traced to instructions of the current one, which write to
# a new tile, or to the destination of the assignment.

import numpy as np

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def results(x):
    tile = nl.load(x)
    total = nl.zeros((128, 1), dtype=nl.float32)
    squares = nisa.activation(
        np.square, tile, scale=2.0, reduce_op=np.add, reduce_res=total, reduce_cmd=3
    )
    scaled = nisa.tensor_scalar(tile, np.multiply, total, dtype=np.float32, engine=5)
    half = nisa.tensor_scalar(tile, np.multiply, tile[:, 0])
    largest = nisa.tensor_reduce(np.max, scaled, axis=[1], keepdims=True)
    best = nisa.max8(src=squares)
    where = nisa.nc_find_index8(data=squares, vals=best)
    stats = nisa.bn_aggr(nisa.bn_stats(tile, dtype=np.float32))
    converted = nisa.dropout(tile, 0.5, dtype=np.float32)
    # RESULTS: %c2.0 = arith.constant 2.000000e+00 : f32
    # RESULTS-NEXT: %c0.5 = arith.constant 5.000000e-01 : f32
    # RESULTS-NEXT: %tile = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # RESULTS-NEXT: nisa.dma_copy dst=%tile, src=%x
    # RESULTS-NEXT: %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # RESULTS-NEXT: nisa.memset dst=%total, value=0
    # RESULTS-NEXT: %squares = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # RESULTS-NEXT: nisa.activation dst=%squares, op=square, data=%tile, scale=%c2.0, reduce_op=add, reduce_res=%total, reduce_cmd=reset_reduce
    # RESULTS-NEXT: %scaled = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # RESULTS-NEXT: nisa.tensor_scalar dst=%scaled, data=%tile, op0=multiply, operand0=%total, engine=vector
    # RESULTS-NEXT: %half = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # RESULTS-NEXT: %tile_float32 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # RESULTS-NEXT: %tile_1 = nki.view %tile offset=0 pattern=[[64, 128], [1, 1]]
    # RESULTS-NEXT: nisa.tensor_copy dst=%tile_float32, src=%tile_1
    # RESULTS-NEXT: nisa.tensor_scalar dst=%half, data=%tile, op0=multiply, operand0=%tile_float32
    # RESULTS-NEXT: %largest = nki.alloc : memref<128x1xf32, #nki.sbuf>
    # RESULTS-NEXT: nisa.tensor_reduce dst=%largest, op=maximum, data=%scaled, axis=[1], keepdims=true
    # RESULTS-NEXT: %best = nki.alloc : memref<128x8xbf16, #nki.sbuf>
    # RESULTS-NEXT: nisa.max8 dst=%best, src=%squares
    # RESULTS-NEXT: %where = nki.alloc : memref<128x8xui32, #nki.sbuf>
    # RESULTS-NEXT: nisa.nc_find_index8 dst=%where, data=%squares, vals=%best
    # RESULTS-NEXT: %sbuf = nki.alloc : memref<128x6xf32, #nki.sbuf>
    # RESULTS-NEXT: nisa.bn_stats dst=%sbuf, data=%tile
    # RESULTS-NEXT: %stats = nki.alloc : memref<128x2xf32, #nki.sbuf>
    # RESULTS-NEXT: nisa.bn_aggr dst=%stats, data=%sbuf
    # RESULTS-NEXT: %converted = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # RESULTS-NEXT: %converted_1 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # RESULTS-NEXT: nisa.dropout dst=%converted_1, data=%tile, prob=%c0.5
    # RESULTS-NEXT: nisa.tensor_copy dst=%converted, src=%converted_1
    # RESULTS-NEXT: nki.return


@nki.jit
def masks(x):
    tile = nl.load(x)
    y = nl.zeros((128, 64), dtype=nl.float32)
    i, j = nl.mgrid[0:128, 0:64]
    y[i, j] = nisa.reciprocal(tile, mask=(i < 96) & (j >= 8))
    sums = nisa.tensor_reduce(np.add, tile, 1, mask=j < 9)
    low = nisa.activation(np.exp, tile, bias=sums, mask=i < 32)
    nothing = nisa.reciprocal(tile, mask=i > 128)
    # MASKS: %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MASKS-NEXT: nisa.dma_copy dst=%tile, src=%x
    # MASKS-NEXT: %y = nki.alloc {masked} : memref<128x64xf32, #nki.sbuf>
    # MASKS-NEXT: nisa.memset dst=%y, value=0
    # MASKS-NEXT: %tile_1 = nki.view %tile offset=8 pattern=[[64, 96], [1, 56]]
    # MASKS-NEXT: %y_1 = nki.view %y offset=8 pattern=[[64, 96], [1, 56]]
    # MASKS-NEXT: nisa.reciprocal dst=%y_1, data=%tile_1
    # MASKS-NEXT: %sums = nki.alloc {masked} : memref<128x1xf32, #nki.sbuf>
    # MASKS-NEXT: %tile_2 = nki.view %tile offset=0 pattern=[[64, 128], [1, 9]]
    # MASKS-NEXT: nisa.tensor_reduce dst=%sums, op=add, data=%tile_2, axis=[1]
    # MASKS-NEXT: %low = nki.alloc {masked} : memref<128x64xf32, #nki.sbuf>
    # MASKS-NEXT: %low_1 = nki.view %low offset=0 pattern=[[64, 32], [1, 64]]
    # MASKS-NEXT: %tile_3 = nki.view %tile offset=0 pattern=[[64, 32], [1, 64]]
    # MASKS-NEXT: %sums_1 = nki.view %sums offset=0 pattern=[[1, 32], [1, 1]]
    # MASKS-NEXT: nisa.activation dst=%low_1, op=exp, data=%tile_3, bias=%sums_1
    # MASKS-NEXT: %nothing = nki.alloc {masked} : memref<128x64xf32, #nki.sbuf>
    # MASKS-NEXT: nki.return


@nki.jit
def made(x):
    tile = nl.load(x)
    i, j = nl.mgrid[0:128, 0:64]
    lower = nisa.affine_select(j <= i, tile, -1.0)
    band = nisa.affine_select((j <= i) & (i - j < 4), tile, -1.0)
    counted = nisa.iota(3 * i - j + 7, dtype=nl.int32)
    block = nisa.iota(3 * i - j + 7, dtype=nl.int32, mask=(i >= 64) & (j > 3))
    filled = nisa.memset((128, 4), 1.0, nl.int32)
    # MADE: %c3 = arith.constant 3 : i32
    # MADE-NEXT: %c7 = arith.constant 7 : i32
    # MADE-NEXT: %c195 = arith.constant 195 : i32
    # MADE-NEXT: %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MADE-NEXT: nisa.dma_copy dst=%tile, src=%x
    # MADE-NEXT: %lower = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MADE-NEXT: nisa.affine_select dst=%lower, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=-1.0, cmp_op=greater_equal
    # MADE-NEXT: %band = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MADE-NEXT: nisa.affine_select dst=%band, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=%tile, on_false_value=-1.0, cmp_op=greater_equal
    # MADE-NEXT: nisa.affine_select dst=%band, pattern=[[1, 64]], channel_multiplier=-1, on_true_tile=%band, on_false_value=-1.0, cmp_op=greater_equal, offset=%c3
    # MADE-NEXT: %counted = nki.alloc : memref<128x64xi32, #nki.sbuf>
    # MADE-NEXT: nisa.iota dst=%counted, pattern=[[-1, 64]], offset=%c7, channel_multiplier=3
    # MADE-NEXT: %block = nki.alloc {masked} : memref<128x64xi32, #nki.sbuf>
    # MADE-NEXT: %block_1 = nki.view %block offset=4100 pattern=[[64, 64], [1, 60]]
    # MADE-NEXT: nisa.iota dst=%block_1, pattern=[[-1, 60]], offset=%c195, channel_multiplier=3
    # MADE-NEXT: %filled = nki.alloc : memref<128x4xi32, #nki.sbuf>
    # MADE-NEXT: nisa.memset dst=%filled, value=1
    # MADE-NEXT: nki.return


@nki.jit
def products(x):
    tile = nl.load(x)
    once = nisa.nc_matmul(tile, tile)
    k, m = nl.arange(128)[:, None], nl.arange(64)[None, :]
    part = nisa.nc_matmul(tile[k < 64], tile[m < 8])
    flipped = nisa.nc_transpose(tile)
    small = nisa.nc_transpose(tile[0:32, 0:16])
    wide = nisa.nc_transpose(tile, dtype=nl.float32)
    # PRODUCTS: %tile = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    # PRODUCTS-NEXT: nisa.dma_copy dst=%tile, src=%x
    # PRODUCTS-NEXT: %once = nki.alloc : memref<64x64xf32, #nki.psum>
    # PRODUCTS-NEXT: nisa.nc_matmul dst=%once, stationary=%tile, moving=%tile, accumulate=false
    # PRODUCTS-NEXT: %part = nki.alloc {masked} : memref<64x64xf32, #nki.psum>
    # PRODUCTS-NEXT: %part_1 = nki.view %part offset=0 pattern=[[64, 64], [1, 8]]
    # PRODUCTS-NEXT: %tile_1 = nki.view %tile offset=0 pattern=[[64, 64], [1, 64]]
    # PRODUCTS-NEXT: %tile_2 = nki.view %tile offset=0 pattern=[[64, 64], [1, 8]]
    # PRODUCTS-NEXT: nisa.nc_matmul dst=%part_1, stationary=%tile_1, moving=%tile_2, accumulate=false
    # PRODUCTS-NEXT: %flipped = nki.alloc : memref<64x128xbf16, #nki.psum>
    # PRODUCTS-NEXT: nisa.nc_transpose dst=%flipped, data=%tile, engine=tensor
    # PRODUCTS-NEXT: %small = nki.alloc : memref<16x32xbf16, #nki.sbuf>
    # PRODUCTS-NEXT: %tile_3 = nki.view %tile offset=0 pattern=[[64, 32], [1, 16]]
    # PRODUCTS-NEXT: nisa.nc_transpose dst=%small, data=%tile_3, engine=vector
    # PRODUCTS-NEXT: %wide = nki.alloc : memref<64x128xf32, #nki.psum>
    # PRODUCTS-NEXT: %wide_1 = nki.alloc : memref<64x128xbf16, #nki.psum>
    # PRODUCTS-NEXT: nisa.nc_transpose dst=%wide_1, data=%tile, engine=tensor
    # PRODUCTS-NEXT: nisa.tensor_copy dst=%wide, src=%wide_1
    # PRODUCTS-NEXT: nki.return


@nki.jit
def moves(x, rows):
    tile, chosen = nl.load(x), nl.load(rows)
    i, j = nl.mgrid[0:128, 0:4]
    moved = nisa.tensor_copy_dynamic_src(tile[i, chosen[0, 0] + j])
    few = nl.zeros((4, 64), dtype=nl.float32)
    f = nl.arange(64)[None, :]
    nisa.dma_copy(dst=few, src=x[chosen, f], oob_mode=nisa.oob_mode.skip, dge_mode=1)
    nisa.dma_copy(dst=x[chosen, f], src=few, dst_rmw_op=np.add)
    nisa.dma_copy(dst=tile[i, j], src=x[i, j], mask=(j < 3) & (i != 5))
    turned = nisa.dma_transpose(x)
    nisa.nc_stream_shuffle(tile[0:1], tile[0:32], [0] * 32)
    # MOVES: %sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
    # MOVES-NEXT: nisa.dma_copy dst=%sbuf, src=%x
    # MOVES-NEXT: %chosen = nki.alloc : memref<4x1xi32, #nki.sbuf>
    # MOVES-NEXT: nisa.dma_copy dst=%chosen, src=%rows
    # MOVES-NEXT: %moved = nki.alloc : memref<128x4xf32, #nki.sbuf>
    # MOVES-NEXT: %chosen_1 = nki.view %chosen offset=0 pattern=[[1, 1], [1, 1]]
    # MOVES-NEXT: %sbuf_1 = nki.view %sbuf offset=0 pattern=[[64, 128], [1, 4]] scalar=%chosen_1 scale=1 bound=61
    # MOVES-NEXT: nisa.tensor_copy dst=%moved, src=%sbuf_1
    # MOVES-NEXT: %few = nki.alloc : memref<4x64xf32, #nki.sbuf>
    # MOVES-NEXT: nisa.memset dst=%few, value=0
    # MOVES-NEXT: %x_1 = nki.view %x offset=0 pattern=[[64, 4], [1, 64]] vector=%chosen scale=64 bound=128
    # MOVES-NEXT: nisa.dma_copy dst=%few, src=%x_1, oob_mode=skip, dge_mode=swdge
    # MOVES-NEXT: nisa.dma_compute dst=%x_1, srcs=[%x_1, %few], reduce_op=add
    # MOVES-NEXT: %sbuf_2 = nki.view %sbuf offset=0 pattern=[[64, 5], [1, 3]]
    # MOVES-NEXT: %x_2 = nki.view %x offset=0 pattern=[[64, 5], [1, 3]]
    # MOVES-NEXT: nisa.dma_copy dst=%sbuf_2, src=%x_2
    # MOVES-NEXT: %sbuf_3 = nki.view %sbuf offset=384 pattern=[[64, 122], [1, 3]]
    # MOVES-NEXT: %x_3 = nki.view %x offset=384 pattern=[[64, 122], [1, 3]]
    # MOVES-NEXT: nisa.dma_copy dst=%sbuf_3, src=%x_3
    # MOVES-NEXT: %turned = nki.alloc : memref<64x128xf32, #nki.sbuf>
    # MOVES-NEXT: nisa.dma_transpose dst=%turned, src=%x
    # MOVES-NEXT: %sbuf_4 = nki.view %sbuf offset=0 pattern=[[64, 32], [1, 64]]
    # MOVES-NEXT: %sbuf_5 = nki.view %sbuf offset=0 pattern=[[64, 1], [1, 64]]
    # MOVES-NEXT: nisa.nc_stream_shuffle dst=%sbuf_4, src=%sbuf_5, shuffle_mask=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    # MOVES-NEXT: nki.return
