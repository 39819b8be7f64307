"""Instructions that write to their operands, and accumulators."""

# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl

Array = npt.NDArray[Any]
P, F = 64, 40
RNG = np.random.default_rng(11)
DATA = RNG.integers(1, 9, (P, F)).astype(np.float32)
OTHER = -RNG.integers(1, 9, (P, F)).astype(np.float32)
COLUMN = RNG.integers(1, 9, (P, 1)).astype(np.float32)
PREDICATE = RNG.integers(0, 2, (P, F)).astype(np.uint8)
INSIDE = (slice(0, 33), slice(4, 29))


def block() -> Any:
    """The mask of `INSIDE`."""
    i, j = nl.mgrid[0:P, 0:F]
    return (i < 33) & (j >= 4) & (j < 29)


def run(body: Callable[..., Any], *arrays: Array) -> Any:
    """Return the results of a body on tiles: the tile or tiles that it returns."""

    @nki.jit(platform_target="trn2")
    def kernel(*given):
        made = body(*(nl.load(a) for a in given))
        outs = []
        for tile in made if isinstance(made, tuple) else (made,):
            out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
            nl.store(out, tile)
            outs.append(out)
        return tuple(outs)

    results = kernel(*arrays)
    return results[0] if len(results) == 1 else results


def masked(whole: Array, inner: Array) -> Array:
    """`whole` with another block inside of the mask."""
    result = whole.copy()
    result[INSIDE] = inner
    return result


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("with_mask", [False, True])
def test_tensor_copy_predicated(reverse: bool, with_mask: bool) -> None:
    def body(src, dst, predicate):
        mask = block() if with_mask else None
        nisa.tensor_copy_predicated(
            src=src, dst=dst, predicate=predicate, reverse_pred=reverse, mask=mask
        )
        nisa.tensor_copy_predicated(src=99.0, dst=dst[0:32], predicate=predicate[0:32])
        return dst

    chosen = np.where((PREDICATE != 0) != reverse, DATA, OTHER)
    expected = masked(OTHER, chosen[INSIDE]) if with_mask else chosen
    expected[:32] = np.where(PREDICATE[:32], 99, expected[:32])
    np.testing.assert_array_equal(run(body, DATA, OTHER, PREDICATE), expected)


@pytest.mark.parametrize("with_mask", [False, True])
def test_select_reduce(with_mask: bool) -> None:
    def body(predicate, on_true, on_false):
        dst = nl.full((P, F), 7, dtype=nl.float32)
        largest = nl.full((P, 1), -7, dtype=nl.float32)
        nisa.select_reduce(
            dst=dst,
            predicate=predicate,
            on_true=on_true,
            on_false=on_false,
            reduce_res=largest,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
            reduce_op=np.max,
            mask=block() if with_mask else None,
        )
        return dst, largest

    chosen = np.where(PREDICATE, OTHER, -COLUMN)
    expected, largest = chosen, chosen.max(1, keepdims=True)
    if with_mask:
        expected = masked(np.full((P, F), 7.0, np.float32), chosen[INSIDE])
        largest = np.full((P, 1), -7.0)
        largest[:33] = chosen[INSIDE].max(1, keepdims=True)
    got, reduced = run(body, PREDICATE, OTHER, -COLUMN)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(reduced, largest)


def test_tensor_scalar_cumulative_under_a_mask() -> None:
    def body(src, imm0, imm1):
        dst = nl.full((P, F), 7, dtype=nl.float32)
        nisa.tensor_scalar_cumulative(
            src=src,
            dst=dst,
            op0=np.multiply,
            op1=np.add,
            imm0=imm0,
            imm1=imm1,
            reduce_cmd=nisa.reduce_cmd.load_reduce,
            mask=block(),
        )
        return dst

    sums = np.cumsum((DATA * COLUMN)[INSIDE], 1) + COLUMN[:33]
    expected = masked(np.full((P, F), 7.0, np.float32), sums)
    np.testing.assert_array_equal(run(body, DATA, COLUMN, COLUMN), expected)


@pytest.mark.parametrize("with_mask", [False, True])
def test_reductions_of_activations_and_scalars(with_mask: bool) -> None:
    def body(data, scale, bias):
        mask = block() if with_mask else None
        sums = [nl.full((P, 1), -7, dtype=nl.float32) for _ in range(3)]
        nisa.activation(
            np.square,
            data,
            scale=scale,
            bias=bias,
            reduce_op=np.add,
            reduce_res=sums[0],
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
            mask=mask,
        )
        nisa.activation_reduce(
            np.square, data, scale=scale, reduce_op=np.add, reduce_res=sums[1], mask=mask
        )
        nisa.tensor_scalar_reduce(
            data=data,
            op0=np.multiply,
            operand0=scale,
            reduce_op=np.min,
            reduce_res=sums[2],
            mask=mask,
        )
        return tuple(sums)

    part = INSIDE if with_mask else (slice(None), slice(None))
    scaled = DATA.astype(np.float64) * COLUMN
    expected = [np.square(scaled + COLUMN), np.square(scaled), scaled]
    for got, values, reduce in zip(
        run(body, DATA, COLUMN, COLUMN), expected, (np.sum, np.sum, np.min), strict=True
    ):
        rows = reduce(values[part], axis=1, keepdims=True)
        np.testing.assert_array_equal(got[part[0]], rows)
        if with_mask:
            assert np.all(got[33:] == -7)


def test_range_select_keeps_the_indices_of_masked_elements() -> None:
    def body(data, low, high):
        largest = nl.full((P, 1), -7, dtype=nl.float32)
        result = nl.full((P, F), 7, dtype=nl.float32)
        result[...] = nisa.range_select(
            on_true_tile=data,
            comp_op0=np.greater_equal,
            comp_op1=np.less,
            bound0=low,
            bound1=high,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
            reduce_res=largest,
            range_start=3,
            mask=block(),
        )
        return result, largest

    at = np.arange(F) + 3
    chosen = np.where((at >= COLUMN + 5) & (at < COLUMN + 20), DATA, np.finfo(np.float32).min)
    got, largest = run(body, DATA, COLUMN + 5, COLUMN + 20)
    np.testing.assert_array_equal(got, masked(np.full((P, F), 7.0, np.float32), chosen[INSIDE]))
    np.testing.assert_array_equal(largest[:33], chosen[INSIDE].max(1, keepdims=True))


@pytest.mark.parametrize(("first", "end"), [(0, 64), (0, 37), (32, 50)])
def test_nc_stream_shuffle(first: int, end: int) -> None:
    lanes = [(3 * lane) % 32 for lane in range(31)] + [255]

    def body(src, dst):
        i, j = nl.mgrid[0:P, 0:F]
        mask = (i >= first) & (i < end) & (j < 30)
        nisa.nc_stream_shuffle(src, dst, lanes, mask=mask)
        return dst

    expected = OTHER.copy()
    for row in range(first, end):
        lane = lanes[row % 32]
        if lane != 255:
            expected[row, :30] = DATA[row // 32 * 32 + lane, :30]
    np.testing.assert_array_equal(run(body, DATA, OTHER), expected)


def test_nc_stream_shuffle_spreads_one_partition_in_place() -> None:
    def body(tile):
        nisa.nc_stream_shuffle(tile[0:1], tile[0:32], [0] * 32)
        return tile

    expected = DATA.copy()
    expected[:32] = DATA[0]
    np.testing.assert_array_equal(run(body, DATA), expected)


def test_tensor_copy_from_and_to_offsets_known_at_run_time() -> None:
    offsets = np.array([[5, 17, 0, 30]], np.int32)

    def body(data, offsets):
        i, j = nl.mgrid[0:P, 0:10]
        result = nl.full((P, F), 7, dtype=nl.float32)
        scattered = nl.full((P, F), 7, dtype=nl.float32)
        for n in range(4):
            result[i, n * 10 + j] = nisa.tensor_copy_dynamic_src(data[i, offsets[0, n] + j])
        nisa.tensor_copy_dynamic_dst(dst=scattered[i, j + offsets[0, 1]], src=data[i, j])
        return result, scattered

    gathered, scattered = run(body, DATA, offsets)
    expected = np.concatenate([DATA[:, n : n + 10] for n in offsets[0]], 1)
    np.testing.assert_array_equal(gathered, expected)
    expected = np.full((P, F), 7.0)
    expected[:, 17:27] = DATA[:, :10]
    np.testing.assert_array_equal(scattered, expected)


def test_masks_of_copies_to_offsets_known_at_run_time() -> None:
    def body(data, offset):
        i, j = nl.mgrid[0:P, 0:10]
        gathered = nl.full((P, 10), 7, dtype=nl.float32)
        mask = (i < 33) & (j >= 2)
        gathered[...] = nisa.tensor_copy_dynamic_src(data[i, offset + j], mask=mask)
        scattered = nl.full((P, F), 7, dtype=nl.float32)
        nisa.tensor_copy_dynamic_dst(dst=scattered[i, offset + j], src=data[i, j], mask=mask)
        return gathered, scattered

    got, scattered = run(body, DATA, np.array([[11]], np.int32))
    expected = np.full((P, 10), 7.0)
    expected[:33, 2:] = DATA[:33, 13:21]
    np.testing.assert_array_equal(got, expected)
    expected = np.full((P, F), 7.0)
    expected[:33, 13:21] = DATA[:33, 2:10]
    np.testing.assert_array_equal(scattered, expected)


def dma(body: Callable[..., None], *arrays: Array, fill: float = 1.0) -> Array:
    """Return a tensor in HBM, filled with a number, after a body has written to it."""

    @nki.jit(platform_target="trn2")
    def kernel(*given):
        out = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, fill)
        body(out, *given)
        return out

    return np.asarray(kernel(*arrays))


def test_dma_copy_under_a_triangular_mask() -> None:
    def body(out, a):
        i, j = nl.mgrid[0:P, 0:F]
        nisa.dma_copy(dst=out[i, j], src=a[i, j], mask=(j < i) & (i < 50))

    i, j = np.mgrid[0:P, 0:F]
    np.testing.assert_array_equal(dma(body, DATA), np.where((j < i) & (i < 50), DATA, 1))


def test_dma_copy_adds_to_its_destination() -> None:
    rows = np.array([[40], [3], [0], [63]], np.int32)

    def body(out, a, rows):
        tile, where = nl.load(a), nl.load(rows)
        j = nl.arange(F)[None, :]
        nisa.dma_copy(dst=out[where, j], src=tile[0:4], dst_rmw_op=np.add)
        nisa.dma_copy(dst=out[0:2], src=tile[0:2], dst_rmw_op=np.add)

    expected = np.ones((P, F), np.float32)
    expected[rows[:, 0]] += DATA[:4]
    expected[:2] += DATA[:2]
    np.testing.assert_array_equal(dma(body, DATA, rows), expected)


def gathering(mode: Any) -> Callable[..., None]:
    def body(out, a, rows):
        j = nl.arange(F)[None, :]
        tile = nl.full((4, F), 5, dtype=nl.float32)
        nisa.dma_copy(dst=tile, src=a[nl.load(rows), j], oob_mode=mode)
        nl.store(out[0:4], tile)

    return body


@pytest.mark.parametrize("mode", [nisa.oob_mode.skip, 1])
def test_dma_copy_skips_indices_out_of_bounds(mode: Any) -> None:
    rows = np.array([[3], [64], [0], [63]], np.int32)
    expected = np.ones((P, F), np.float32)
    expected[:4] = DATA[rows[:, 0] % 64]
    expected[1] = 5
    np.testing.assert_array_equal(dma(gathering(mode), DATA, rows), expected)


@pytest.mark.parametrize("row", [64, 70])
def test_an_index_out_of_bounds_raises_an_index_error(row: int) -> None:
    rows = np.array([[3], [row], [0], [99]], np.int32)
    with pytest.raises(IndexError) as caught:
        dma(gathering(nisa.oob_mode.error), DATA, rows)
    assert type(caught.value) is IndexError
    expected = f"index {row * F} is out of bounds for axis 0 with size {P * F}"
    assert str(caught.value) == expected
    (note,) = caught.value.__notes__
    assert f"%sbuf[1, 0] is {row}; 2 of 4 are out of 0 to 63" in note
    assert "test_effects.py" in note
