"""Grids of tiles and of blocks, against NumPy's slices."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


def numbers(*shape):
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


def inspected(look, *arrays):
    """Return the result of `look` on the kernel's tensors during tracing."""
    seen = []

    @nki.jit
    def kernel(*tensors):
        seen.append(look(*tensors))
        return tensors[0]

    kernel.trace(*arrays)
    return seen[0]


# ---------------------------------------------------------------------- published forms


@nki.jit
def copy_tile_grid(src):
    tile_shape = (128, 256)
    src_tiles = nl.tiles(src, tile_shape=tile_shape)
    dst = nl.ndarray(src.shape, dtype=src.dtype, buffer=nl.shared_hbm)
    dst_tiles = nl.tiles(dst, tile_shape=tile_shape)
    for i in range(src_tiles.shape[0]):
        for j in range(src_tiles.shape[1]):
            src_tile = src_tiles[i, j]
            tile = nl.ndarray(src_tile.element_shape, dtype=src.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile.data, src=src_tile.data)
            nisa.dma_copy(dst=dst_tiles[i, j].data, src=tile.data)
    return dst


@nki.jit
def double_blocks(src):
    """A block comes at once where one pattern is a block, and is computed tile by tile."""
    dst = nl.ndarray(src.shape, dtype=src.dtype, buffer=nl.shared_hbm)
    shapes = {"tile_shape": (64, 32), "block_shape": (1, 4)}
    src_blocks, dst_blocks = nl.blocks(src, **shapes), nl.blocks(dst, **shapes)
    for i in range(src_blocks.shape[0]):
        for j in range(src_blocks.shape[1]):
            block = src_blocks[i, j]
            here = nl.alloc_blocks(
                **shapes, element_shape=block.element_shape, buffer=nl.sbuf, dtype=src.dtype
            )
            for k in range(nl.tiles(block).shape[1]):
                tile = nl.tiles(here)[0, k]
                nisa.dma_copy(tile.data, nl.tiles(block)[0, k].data)
                nisa.tensor_scalar(tile.data, tile.data, op0=nl.multiply, operand0=2.0)
                nisa.dma_copy(nl.tiles(dst_blocks[i, j])[0, k].data, tile.data)
    return dst


@pytest.mark.parametrize("shape", [(256, 512), (200, 300), (128, 256), (3, 5)])
@pytest.mark.parametrize(("kernel", "factor"), [(copy_tile_grid, 1), (double_blocks, 2)])
def test_partial_tiles_are_copied_as_they_are(kernel, factor, shape):
    x = numbers(*shape)
    np.testing.assert_array_equal(kernel(x), factor * x)


def test_a_tensor_of_many_rows_stays_on_chip():
    """512 rows in tiles of 128, side by side in the partitions."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        shapes = {"tile_shape": (128, 64), "element_shape": x.shape}
        here = nl.alloc_tiles(**shapes, buffer=nl.sbuf, dtype=x.dtype)
        there, back = nl.tiles(x, tile_shape=(128, 64)), nl.tiles(out, tile_shape=(128, 64))
        for i in range(4):
            for j in range(2):
                nisa.dma_copy(here[i, j].data, there[i, j].data)
        # All at once: the tiles lie one after the other.
        assert here.data.shape == (128, 8 * 64)
        assert here[1].data.shape == (128, 2 * 64)
        nisa.tensor_scalar(here.data, here.data, op0=nl.add, operand0=1.0)
        nisa.tensor_scalar(here[1].data, here[1].data, op0=nl.multiply, operand0=3.0)
        for i in range(4):
            for j in range(2):
                nisa.dma_copy(back[i, j].data, here[i, j].data)
        return out

    x = numbers(512, 128)
    expected = x + 1
    expected[128:256] *= 3
    np.testing.assert_array_equal(kernel(x), expected)


# ---------------------------------------------------------------------- properties of grids


SHAPES = [
    # shape, tile, block, key, elements of the selection as NumPy's key
    ((8, 12), (4, 3), None, (1, 2), np.s_[4:8, 6:9]),
    ((8, 12), (4, 3), None, (slice(None), 1), np.s_[:, 3:6]),
    ((8, 12), (4, 3), None, (-1, slice(1, 3)), np.s_[4:8, 3:9]),
    ((7, 11), (4, 3), None, (1, 3), np.s_[4:7, 9:11]),
    ((7, 11), (4, 3), None, (..., 0), np.s_[:, 0:3]),
    ((7, 11), (4, 3), (2, 2), (0, 1), np.s_[0:7, 6:11]),
    ((16, 12), (4, 3), (2, 2), (1,), np.s_[8:16]),
    ((2, 3, 8, 6), (4, 3), None, (1, 2, 0, 1), np.s_[1, 2, 0:4, 3:6]),
    ((2, 3, 8, 6), (4, 3), None, (slice(1, 2), 0), np.s_[1:2, 0]),
    ((5, 8, 6), (2, 4, 4), None, (2, 1, 1), np.s_[4:5, 4:8, 4:6]),
    ((16,) * 2, (4, 4), (2, 3), (1, 1), np.s_[8:16, 12:16]),
]


@pytest.mark.parametrize(("shape", "tile", "block", "key", "elements"), SHAPES)
def test_a_selection_is_the_slice_of_the_tensor(shape, tile, block, key, elements):
    def grid(x):
        if block is None:
            return nl.tiles(x, tile_shape=tile)
        return nl.blocks(x, tile_shape=tile, block_shape=block)

    @nki.jit
    def kernel(x):
        part = grid(x)[key]
        assert part.element_shape == part.data.shape
        out = nl.ndarray(part.element_shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, part.data)
        return out

    x = numbers(*shape)
    np.testing.assert_array_equal(kernel(x), x[elements])


def test_properties_of_a_grid():
    def look(x):
        tiles = nl.tiles(x, tile_shape=(4, 3))
        blocks = nl.blocks(tiles, block_shape=(2, 2))
        grids = (tiles, tiles[1], tiles[1, 3], blocks, blocks[0, 1], nl.tiles(blocks[1, 1]))
        return [
            (g.shape, g.element_shape, g.index_step_elements, g.is_remainder, g.tile_shape)
            for g in grids
        ] + [(type(grids[4]).__name__, blocks.block_shape, tiles.dtype, tiles.buffer, len(tiles))]

    *said, last = inspected(look, numbers(10, 11))
    assert said == [
        ((3, 4), (10, 11), (4, 3), True, (4, 3)),
        ((4,), (4, 11), (3,), True, (4, 3)),
        ((), (4, 2), (), True, (4, 3)),
        ((2, 2), (10, 11), (8, 6), True, (4, 3)),
        ((), (8, 5), (), True, (4, 3)),
        ((1, 2), (2, 5), (4, 3), True, (4, 3)),
    ]
    assert last == ("NkiBlockGrid", (2, 2), "float32", nl.hbm, 3)


def test_dimensions_before_the_tiles_are_counted_by_elements():
    def look(x):
        grid = nl.tiles(x, tile_shape=(4, 3))
        return grid.shape, grid.index_step_elements, grid[1].shape, nl.tiles(grid[1, 0]).shape

    assert inspected(look, numbers(2, 8, 6)) == ((2, 2, 2), (1, 4, 3), (2, 2), (1, 2))


def test_grids_emit_nothing():
    @nki.jit
    def plain(x):
        out = nl.ndarray((4, 4), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x[4:8, 0:4])
        return out

    @nki.jit
    def gridded(x):
        out = nl.ndarray((4, 4), x.dtype, buffer=nl.shared_hbm)
        nl.blocks(x, tile_shape=(4, 4), block_shape=(2, 1))[0]
        nisa.dma_copy(out, nl.tiles(x, tile_shape=(4, 4))[1, 0].data)
        return out

    x = numbers(8, 8)
    texts = [kernel.trace(x).text().partition("\n")[2] for kernel in (plain, gridded)]
    assert texts[0].replace("plain", "gridded") == texts[1]


def test_steps_leave_out_cells():
    def look(x):
        every = nl.tiles(x, tile_shape=(4, 3))[:, 0::3]
        return (
            (every.shape, every.element_shape, every.index_step_elements, every.is_remainder),
            (every.is_data_representable, every[1, 1].data.shape, every[0, -1].element_shape),
            every[:, 1:].shape,
        )

    assert inspected(look, numbers(8, 11)) == (
        ((2, 2), (8, 5), (4, 9), True),
        (False, (4, 2), (4, 2)),
        (2, 1),
    )


@pytest.mark.parametrize("buffer", [nl.sbuf, nl.shared_hbm])
def test_a_grid_like_another_holds_its_selections(buffer):
    """Every second tile of a row, side by side in the new one."""

    @nki.jit
    def kernel(x):
        some = nl.tiles(x, tile_shape=(4, 3))[1, ::2]
        here = nl.empty_like(some, buffer=buffer)
        assert (here.shape, here.element_shape, here.tile_shape) == ((2,), (4, 5), (4, 3))
        assert (here.dtype, here.buffer, here.index_step_elements) == ("float32", buffer, (3,))
        out = nl.ndarray((4, 5), x.dtype, buffer=nl.shared_hbm)
        back = nl.tiles(out, tile_shape=(4, 3))
        for i in range(2):
            nisa.dma_copy(here[i].data, some[i].data)
            nisa.dma_copy(back[0, i].data, here[i].data)
        return out

    x = numbers(8, 8)
    np.testing.assert_array_equal(kernel(x), x[4:8, [0, 1, 2, 6, 7]])


def test_blocks_like_others():
    def look(x):
        blocks = nl.blocks(x, tile_shape=(4, 3), block_shape=(2, 2))
        like = nl.empty_like(blocks, buffer=nl.sbuf, dtype=nl.bfloat16)
        one = nl.empty_like(blocks[1, 0], buffer=nl.sbuf)
        return (
            (type(like).__name__, like.shape, like.element_shape, like.block_shape, like.dtype),
            (one.shape, one.element_shape, nl.tiles(one).shape, nl.tiles(one)[0, 1].data.shape),
        )

    assert inspected(look, numbers(10, 11)) == (
        ("NkiBlockGrid", (2, 2), (10, 11), (2, 2), "bfloat16"),
        ((), (2, 6), (1, 2), (2, 3)),
    )


def test_destinations_of_transposes():
    def look(x):
        grid = nl.empty_like(
            nl.blocks(x, tile_shape=(4, 3), block_shape=(2, 1)),
            buffer=nl.sbuf,
            transpose_axes=(1, 0),
        )
        tile = nl.empty_like(x, buffer=nl.sbuf, transpose_axes=(1, 0), address=(0, 64))
        return (
            (grid.shape, grid.tile_shape, grid.block_shape, grid.element_shape),
            (tile.shape, tile.address),
        )

    assert inspected(look, numbers(10, 11)) == (
        ((4, 2), (3, 4), (1, 2), (11, 10)),
        ((11, 10), (0, 64)),
    )


# ---------------------------------------------------------------------- invalid data


@pytest.mark.parametrize(
    ("elements", "key", "shape"),
    [
        ((8, 12), (), (4, 2 * 4 * 3)),
        ((8, 12), (1,), (4, 4 * 3)),
        ((8, 12), (0, slice(1, 3)), (4, 2 * 3)),
        ((8, 12), (1, 2), (4, 3)),
        ((8, 12), (slice(None), 1), None),
        ((7, 12), (), None),
        ((7, 12), (0,), (4, 4 * 3)),
        ((7, 12), (1, 1), (3, 3)),
        ((8, 11), (1,), None),
        ((8, 11), (1, 3), (4, 2)),
        ((2, 8, 12), (1,), (4, 2 * 4 * 3)),
        ((2, 8, 12), (1, 0, 0), (4, 3)),
    ],
)
def test_data_on_chip_is_exact_or_refused(elements, key, shape):
    def look(x):
        grid = nl.alloc_tiles(
            tile_shape=(4, 3), element_shape=elements, buffer=nl.sbuf, dtype=nl.float32
        )
        part = grid[key] if key else grid
        if shape is None:
            with pytest.raises(ValueError, match="no access pattern is exactly these"):
                _ = part.data
        return part.is_data_representable, part.data.shape if shape else None

    assert inspected(look, numbers(2, 2)) == (shape is not None, shape)


def test_tiles_of_three_dimensions_on_chip():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        shapes = {"tile_shape": (4, 2, 3), "element_shape": x.shape}
        here = nl.alloc_tiles(**shapes, buffer=nl.sbuf, dtype=x.dtype)
        for i in range(2):
            for j in range(3):
                there = nl.tiles(x, tile_shape=(4, 2, 3))[i, j, 0]
                nisa.dma_copy(here[i, j, 0].data, there.data)
                back = nl.tiles(out, tile_shape=(4, 2, 3))[i, j, 0]
                nisa.dma_copy(back.data, here[i, j, 0].data)
        return out

    x = numbers(7, 5, 2)
    np.testing.assert_array_equal(kernel(x), x)


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda x: nl.tiles(x), ValueError, "'tile_shape' is needed for a tensor"),
        (lambda x: nl.tiles(x, tile_shape=[4, 3]), TypeError, r"a tuple of ints, got \[4, 3\]"),
        (lambda x: nl.tiles(x, tile_shape=(4, True)), TypeError, "a tuple of ints"),
        (lambda x: nl.tiles(x, tile_shape=(4, 0)), ValueError, r"is positive, got \(4, 0\)"),
        (lambda x: nl.tiles(x, tile_shape=(4,)), ValueError, "a tile has at least 2"),
        (lambda x: nl.tiles(x, tile_shape=(1, 4, 3)), ValueError, r"shape \(8, 12\) 2"),
        (lambda x: nl.tiles([x], tile_shape=(4, 3)), TypeError, "a tensor or a grid"),
        (lambda x: nl.blocks(x, tile_shape=(4, 3), block_shape=(2,)), ValueError, "a tile 2"),
        (lambda x: nl.tiles(x, tile_shape=(4, 3))[2, 0], IndexError, "2 is out of range"),
        (lambda x: nl.tiles(x, tile_shape=(4, 3))[0, 0, 0], IndexError, "has 2 coordinates"),
        (lambda x: nl.tiles(x, tile_shape=(4, 3))[::-1], IndexError, "with positive steps"),
        (
            lambda x: nl.tiles(nl.tiles(x, tile_shape=(4, 3))[:, ::2]),
            ValueError,
            "a selection with steps",
        ),
        (
            lambda x: nl.empty_like(x, buffer=nl.sbuf, transpose_axes=(0, 1)),
            ValueError,
            "'transpose_axes' is",
        ),
        (
            lambda x: nl.empty_like(x, buffer=nl.sbuf, transpose_axes=(2, 1, 0)),
            ValueError,
            r"for \(8, 12\)",
        ),
        (lambda x: nl.empty_like(x, transpose_axes=(1, 0)), ValueError, "the buffer is nl.sbuf"),
        (lambda x: nl.tiles(x, tile_shape=(4, 3))[1:1], IndexError, "selects nothing"),
        (lambda x: nl.tiles(x, tile_shape=(4, 3))["a"], TypeError, "an integer or a slice"),
        (lambda x: nl.NkiTileGrid(), TypeError, "is made by nl.tiles"),
        (lambda x: len(nl.tiles(x, tile_shape=(4, 3))[0, 0]), TypeError, "has no length"),
        (
            lambda x: nl.tiles(
                nl.ndarray((4, 2, 3), x.dtype, buffer=nl.sbuf), tile_shape=(2, 3)
            ),
            ValueError,
            "tiled in all its 3",
        ),
        (
            lambda x: nl.alloc_tiles(
                tile_shape=(4, 3), element_shape=(8, 12), buffer="sbuf", dtype=x.dtype
            ),
            TypeError,
            "'buffer' is nl.sbuf or its like",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_reported(make, error, message):
    with pytest.raises(error, match=message):
        inspected(make, numbers(8, 12))


def test_a_missing_data_type_is_reported_at_the_authors_line():
    def look(x):
        nl.alloc_tiles(tile_shape=(4, 3), element_shape=(8, 12), buffer=nl.sbuf, dtype="float7")

    with pytest.raises(nki.NkiValidationError, match=r"nl\.alloc_tiles: 'dtype': unknown"):
        inspected(look, numbers(8, 12))
