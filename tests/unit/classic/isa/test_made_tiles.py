"""Tiles from index expressions and numbers, gathers, matmuls and their masks."""

# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit.dialects.hardware.words import MemoryRegion, matmul_perf_mode

Array = npt.NDArray[Any]
RNG = np.random.default_rng(13)


def run(body: Callable[..., Any], *arrays: Array, target: str = "trn2") -> Any:
    """The tile that a body makes of tiles."""

    @nki.jit(platform_target=target)
    def kernel(*given):
        tile = body(*(nl.load(a) for a in given))
        out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    return np.asarray(kernel(*arrays))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int8, np.dtype(ml_dtypes.bfloat16)])
def test_iota(dtype: Any) -> None:
    def body():
        i, j, k = nl.mgrid[0:8, 0:3, 0:5]
        result = nl.full((8, 3, 5), -1, dtype=dtype)
        result[...] = nisa.iota(2 * i - j + 3 * k + 4, dtype=dtype, mask=(j >= 1) & (k < i))
        return result

    i, j, k = np.mgrid[0:8, 0:3, 0:5]
    expected = np.where((j >= 1) & (k < i), 2 * i - j + 3 * k + 4, -1)
    np.testing.assert_array_equal(run(body).astype(np.int64), expected)


@pytest.mark.parametrize(
    ("value", "dtype"), [(0.2, np.float32), (-3.0, np.int32), (7, np.uint8), (np.inf, np.float16)]
)
def test_memset(value: Any, dtype: Any) -> None:
    def body():
        result = nl.full((40, 6), 1, dtype=dtype)
        i, j = nl.mgrid[0:40, 0:6]
        result[...] = nisa.memset((40, 6), value, dtype, mask=(i < 33) & (j > 1))
        return result

    expected = np.ones((40, 6), dtype)
    expected[:33, 2:] = value
    got = run(body)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, expected)


DATA = RNG.integers(1, 9, (64, 40)).astype(np.float32)


@pytest.mark.parametrize(
    "predicate",
    [
        lambda i, j: j < i,
        lambda i, j: 3 * i - 2 * j == 4,
        lambda i, j: i + j != 30,
        lambda i, j: (j <= i) & (i - j < 9) & (j >= 2),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_affine_select(predicate: Callable[..., Any], dtype: Any) -> None:
    def body(tile):
        i, j = nl.mgrid[0:64, 0:40]
        result = nl.full((64, 40), 7, dtype=dtype)
        result[...] = nisa.affine_select(predicate(i, j), tile, -5.0, dtype=dtype, mask=i >= 32)
        return result

    i, j = np.mgrid[0:64, 0:40]
    expected = np.where(i < 32, 7, np.where(predicate(i, j), DATA, -5))
    np.testing.assert_array_equal(run(body, DATA), expected)


def gathered(src: Array, index: Array, width: int, count: int) -> Array:
    """Return the elements that each 16 partitions gather, computed one by one."""
    flat = src.reshape(len(src), -1)
    result = np.zeros((len(src), count, width), src.dtype)
    for row in range(len(src)):
        first = row // 16 * 16
        for n in range(count):
            at = index[first + n % 16, n // 16]
            result[row, n] = flat[row, at : at + width]
    return result


@pytest.mark.parametrize("count", [None, 48, 21])
def test_local_gather(count: int | None) -> None:
    src = RNG.random((32, 50, 2)).astype(np.float32)
    index = RNG.integers(0, 98, (32, 3)).astype(np.uint16)
    got = run(lambda s, i: nisa.local_gather(s, i, 2, count), src, index)
    assert got.shape == ((32, 21, 2) if count == 21 else (32, 3, 16, 2))
    expected = gathered(src, index, 2, count or 48)
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


def test_local_gather_of_a_masked_block_of_indices() -> None:
    src = RNG.random((64, 50)).astype(np.float32)
    index = RNG.integers(0, 50, (64, 5)).astype(np.uint16)

    def body(src, index):
        i, j = nl.mgrid[0:64, 0:5]
        result = nl.full((64, 5, 16, 1), 7, dtype=nl.float32)
        result[...] = nisa.local_gather(src, index, mask=(i >= 32) & (j < 3))
        return result

    expected = np.full((64, 5, 16, 1), 7.0)
    expected[32:, :3] = gathered(src[32:], index[32:, :3], 1, 48).reshape(32, 3, 16, 1)
    np.testing.assert_array_equal(run(body, src, index), expected)


def test_dma_transpose_of_a_masked_block() -> None:
    data = RNG.random((40, 3, 20)).astype(np.float32)

    def body(tile):
        i, j, k = nl.mgrid[0:40, 0:3, 0:20]
        result = nl.full((20, 3, 40), 7, dtype=nl.float32)
        result[...] = nisa.dma_transpose(tile, mask=(i >= 5) & (j < 2) & (k < 11) & (k > 2))
        return result

    expected = np.full((20, 3, 40), 7.0)
    expected[3:11, :2, 5:] = data[5:, :2, 3:11].T
    np.testing.assert_array_equal(run(body, data), expected)


def test_nc_find_index8_counts_from_the_first_element_of_its_block() -> None:
    data = RNG.permuted(np.tile(np.arange(40), (64, 1)), axis=1).astype(np.float32)

    def body(tile):
        i, j = nl.mgrid[0:64, 0:40]
        mask = (i < 32) & (j >= 10) & (j < 37)
        result = nl.full((64, 8), 7, dtype=nl.uint32)
        result[...] = nisa.nc_find_index8(data=tile, vals=nisa.max8(src=tile, mask=mask), mask=mask)
        return result

    expected = np.full((64, 8), 7)
    expected[:32] = np.argsort(-data[:32, 10:37], 1)[:, :8]
    np.testing.assert_array_equal(run(body, data), expected)


def test_bn_aggr_of_a_masked_block() -> None:
    data = RNG.random((64, 12)).astype(np.float32)

    def body(tile):
        j = nl.arange(24)[None, :]
        stats = nl.ndarray((64, 24), dtype=nl.float32)
        for part in range(4):
            stats[:, part * 6 : part * 6 + 6] = nisa.bn_stats(tile[:, part * 3 : part * 3 + 3])
        return nisa.bn_aggr(stats, mask=(j >= 6) & (j < 18))

    chosen = data[:, 3:9].astype(np.float64)
    expected = np.stack([chosen.mean(1), chosen.var(1)], 1)
    np.testing.assert_allclose(run(body, data), expected, rtol=1e-5)


def test_tensor_partition_reduce_keeps_the_free_dimensions() -> None:
    data = RNG.integers(-9, 9, (50, 4, 6)).astype(np.float32)

    def body(tile):
        i = nl.arange(50)[:, None, None]
        return nisa.tensor_partition_reduce(np.max, tile, mask=i < 30)

    got = run(body, data)
    np.testing.assert_array_equal(got, data[:30].max(0, keepdims=True))


@pytest.mark.parametrize("axis", [3, (2, 3), [1, 2, 3], -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_tensor_reduce_of_several_axes(axis: Any, keepdims: bool) -> None:
    data = RNG.integers(-9, 9, (16, 2, 3, 5)).astype(np.float32)

    def body(tile):
        k = nl.arange(5)[None, None, None, :]
        return nisa.tensor_reduce(np.add, tile, axis, keepdims=keepdims, mask=k < 4)

    dims = tuple(np.atleast_1d(axis))
    expected = data[..., :4].sum(dims, keepdims=keepdims)
    got = run(body, data)
    assert got.shape == (expected.shape if expected.ndim > 1 else (16, 1))
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


def test_vectors_of_tiles_with_several_free_dimensions() -> None:
    data = RNG.integers(-9, 9, (16, 3, 4)).astype(np.float32)
    column = RNG.integers(-9, 9, (16, 1)).astype(np.float32)

    def body(tile, column):
        i, j = nl.arange(16)[:, None, None], nl.arange(3)[None, :, None]
        result = nl.full((16, 3, 4), 7, dtype=nl.float32)
        result[...] = nisa.tensor_scalar(tile, np.multiply, column, mask=(i < 9) & (j > 0))
        return result

    expected = np.full((16, 3, 4), 7.0)
    expected[:9, 1:] = (data * column[:, :, None])[:9, 1:]
    np.testing.assert_array_equal(run(body, data, column), expected)


def test_tiles_with_as_many_elements_in_other_dimensions() -> None:
    data = RNG.integers(-9, 9, (16, 3, 4)).astype(np.float32)
    got = run(
        lambda a, b: nisa.tensor_tensor(a, b, np.add), data, data.reshape(16, 12)[:, ::-1].copy()
    )
    np.testing.assert_array_equal(got, data + data.reshape(16, 12)[:, ::-1].reshape(16, 3, 4))


# ------------------------------------------------------------------ Tensor Engine

LEFT = RNG.integers(-4, 5, (96, 70)).astype(np.float32)
RIGHT = RNG.integers(-4, 5, (96, 130)).astype(np.float32)


def test_masks_of_the_operands_of_a_matmul() -> None:
    def body(left, right):
        k, m = nl.arange(96)[:, None], nl.arange(70)[None, :]
        n = nl.arange(130)[None, :]
        result = nl.full((70, 130), 7, dtype=nl.float32, buffer=nl.psum)
        i, j = nl.mgrid[0:96, 0:130]
        result[...] = nisa.nc_matmul(left[(k < 64) & (m < 50)], right[i, j][n <= 99])
        return result

    expected = np.full((70, 130), 7.0)
    expected[:50, :100] = LEFT[:64, :50].T @ RIGHT[:64, :100]
    np.testing.assert_array_equal(run(body, LEFT, RIGHT), expected)


def test_a_mask_of_the_result_of_a_matmul() -> None:
    def body(left, right):
        i, j = nl.mgrid[0:70, 0:130]
        result = nl.full((70, 130), 7, dtype=nl.float32)
        result[...] = nisa.nc_matmul(left, right, mask=(i < 50) & (j >= 11))
        result[...] = nisa.nc_matmul(left, right, mask=np.bool_(False))
        return result

    expected = np.full((70, 130), 7.0)
    expected[:50, 11:] = (LEFT.T @ RIGHT)[:50, 11:]
    np.testing.assert_array_equal(run(body, LEFT, RIGHT), expected)


def test_a_matmul_of_tiles_with_several_free_dimensions() -> None:
    got = run(nisa.nc_matmul, LEFT.reshape(96, 2, 35), RIGHT.reshape(96, 13, 10))
    np.testing.assert_array_equal(got, (LEFT.T @ RIGHT).reshape(70, 13, 10))


@pytest.mark.parametrize("mode", ["double_row_gen3", matmul_perf_mode.double_row])
def test_double_row(mode: Any) -> None:
    left = RNG.integers(-4, 5, (128, 2, 32)).astype(ml_dtypes.float8_e5m2)
    right = RNG.integers(-4, 5, (128, 2, 64)).astype(ml_dtypes.float8_e5m2)
    got = run(lambda a, b: nisa.nc_matmul(a, b, perf_mode=mode), left, right)
    assert got.dtype == np.float32
    expected = np.einsum("krm,krn->mn", left.astype(np.float32), right.astype(np.float32))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("shape", "engine", "buffer"),
    [
        ((32, 32), nisa.unknown_engine, MemoryRegion.sbuf),
        ((33, 4), nisa.unknown_engine, MemoryRegion.psum),
        ((16, 16), nisa.tensor_engine, MemoryRegion.psum),
        ((16, 16), 1, MemoryRegion.psum),
        ((16, 16), 5, MemoryRegion.sbuf),
        ((128, 128), 5, MemoryRegion.sbuf),
        ((100, 70), 5, MemoryRegion.sbuf),
        ((33, 3, 11), 5, MemoryRegion.sbuf),
        ((40, 3, 5), 0, MemoryRegion.psum),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.dtype(ml_dtypes.bfloat16)], ids=str)
def test_nc_transpose_chooses_its_engine(
    shape: tuple[int, ...], engine: Any, buffer: MemoryRegion, dtype: Any
) -> None:
    data = RNG.random(shape).astype(dtype)

    def body(tile):
        result = nisa.nc_transpose(tile, engine=engine)
        assert result.buffer is buffer
        assert np.dtype(result.dtype) == dtype
        return result

    np.testing.assert_array_equal(run(body, data), data.reshape(len(data), -1).T)


def test_nc_transpose_of_a_masked_block() -> None:
    def body(tile):
        i, j = nl.mgrid[0:64, 0:40]
        result = nl.full((40, 64), 7, dtype=nl.float32)
        result[...] = nisa.nc_transpose(tile, mask=(i < 35) & (j < 20))
        return result

    expected = np.full((40, 64), 7.0)
    expected[:20, :35] = DATA[:35, :20].T
    np.testing.assert_array_equal(run(body, DATA), expected)


# ------------------------------------------------------------------ results in PSUM


def in_psum(body: Callable[[Any, Any], Any], *arrays: Array) -> tuple[Array, int]:
    """Return a body's result in a PSUM tile, and the number of its on-chip instructions."""

    @nki.jit(platform_target="trn2")
    def kernel(a, b):
        one, two = nl.load(a), nl.load(b)
        banked = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.psum)
        banked[...] = body(one, two)
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, banked)
        return out

    text = str(kernel.trace(*arrays).module)
    computing = [line for line in text.splitlines() if "nisa." in line and "dma" not in line]
    return np.asarray(kernel(*arrays)), len(computing) - 1  # less the copy out of PSUM


def test_engines_write_to_psum_where_they_can() -> None:
    got, count = in_psum(
        lambda a, b: nisa.tensor_tensor(a, b, np.subtract), DATA, DATA[::-1].copy()
    )
    np.testing.assert_array_equal(got, DATA - DATA[::-1])
    assert count == 1


def test_results_of_sbuf_only_instructions_are_copied_to_psum() -> None:
    words = RNG.integers(2**30, 2**31 - 1, (64, 40)).astype(np.int32)
    got, count = in_psum(
        lambda a, b: nisa.tensor_tensor(a, b, np.subtract), words, words[::-1].copy()
    )
    np.testing.assert_array_equal(got, words - words[::-1])  # float32 would round
    assert count == 2
    got, count = in_psum(lambda a, b: nisa.iota(nl.mgrid[0:64, 0:40][1], np.float32), DATA, DATA)
    np.testing.assert_array_equal(got, np.tile(np.arange(40), (64, 1)))
    assert count == 2


def test_integers_that_become_float32_in_between_are_rounded() -> None:
    words = RNG.integers(2**24, 2**30, (64, 40)).astype(np.int32) | 1

    def body(tile):
        result = nl.ndarray((64, 40), dtype=nl.int32)
        result[...] = nisa.tensor_copy(tile, dtype=nl.float32)
        return result

    expected = words.astype(np.float32).astype(np.int32)
    assert np.any(expected != words)
    np.testing.assert_array_equal(run(body, words), expected)


@pytest.mark.parametrize(("is_transpose", "count"), [(False, 2), (True, 1)])
def test_a_product_in_psum_of_another_type(is_transpose: bool, count: int) -> None:
    left = RNG.integers(-9, 9, (64, 64)).astype(ml_dtypes.bfloat16)
    unit = np.eye(64, dtype=ml_dtypes.bfloat16)
    got, instructions = in_psum(
        lambda a, b: nisa.nc_matmul(a, b, is_transpose=is_transpose), left, unit
    )
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, left.T)
    assert instructions == count
