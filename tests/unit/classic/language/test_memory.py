"""Loads, stores, additions in HBM and new tensors of the classic language, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.classic_language import BFLOAT16, floats, integers, launch, run, same

import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


def test_a_load_converts():
    x = floats((128, 24), scale=1.0)

    def kernel(x):
        out = nl.ndarray(x.shape, nl.bfloat16, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x, dtype=nl.bfloat16))
        return out

    same(launch(kernel, x), x.astype(BFLOAT16))


@pytest.mark.parametrize("rows", [1, 100, 128, 200, 256])
def test_masks_cut_loads_and_stores_at_the_end(rows):
    x = floats((rows, 20))

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:20]
        for block in range((rows + 127) // 128):
            at = block * 128 + i_p
            tile = nl.load(x[at, i_f], mask=at < rows)
            nl.store(out[at, i_f], nl.negative(tile, mask=at < rows), mask=at < rows)
        return out

    same(launch(kernel, x), -x)


@pytest.mark.parametrize("where", ["load", "store"])
def test_triangular_masks(where):
    x = floats((64, 48))

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:64, 0:48]
        if where == "load":
            nl.store(out, nl.load(x[i_p, i_f], mask=i_p >= i_f))
        else:
            nl.store(out, 0)
            nl.store(out[i_p, i_f], nl.load(x), mask=i_p >= i_f)
        return out

    below = np.arange(64)[:, None] >= np.arange(48)
    same(launch(kernel, x), np.where(below, x, np.float32(0)))


def test_a_mask_that_holds_nowhere_does_nothing():
    x = floats((8, 8))

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:8, 0:8]
        nl.store(out, nl.load(x))
        nl.store(out[i_p, i_f], 9.0, mask=i_p > 100)
        return out

    same(launch(kernel, x), x)


def test_stores_to_transposed_and_strided_places():
    x = floats((32, 16))

    def kernel(x):
        out = nl.ndarray((16, 64), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, 0)
        i_p, i_f = nl.mgrid[0:32, 0:16]
        nl.store(out[i_f, 2 * i_p + 1], nl.load(x))
        return out

    expected = np.zeros((16, 64), np.float32)
    expected[:, 1::2] = x.T
    same(launch(kernel, x), expected)


def test_stores_of_numbers_columns_and_psum_tiles():
    x = floats((16, 1))

    def kernel(x):
        out = nl.ndarray((4, 16, 8), x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        banked = nl.ndarray((16, 8), x.dtype, buffer=nl.psum)
        banked[...] = tile
        nl.store(out[0], tile)
        nl.store(out[1], banked)
        nl.store(out[2], value=7)
        nl.store(out[3], nl.broadcast_to(tile[0:1, 0:1], shape=(1, 8)))
        return out

    wide = np.broadcast_to(x, (16, 8))
    seven = np.full((16, 8), 7, np.float32)
    same(launch(kernel, x), np.stack([wide, wide, seven, np.full((16, 8), x[0, 0])]))


def test_parts_of_one_dimension():
    x = floats((32,))

    def kernel(x):
        out = nl.ndarray((2, 32), x.dtype, buffer=nl.shared_hbm)
        column = nl.load(x[0:32])
        i_f = nl.arange(32)[None, :]
        row = nl.load(x[i_f])
        assert (column.shape, row.shape) == ((32, 1), (1, 32))
        nl.store(out[0], column)
        nl.store(out[1], row)
        return out

    same(launch(kernel, x), np.stack([x, x]))


def test_stores_beyond_one_instance_have_many_rows():
    def kernel(x):
        out = nl.ndarray((300, 8), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, 3.0)
        nl.store(out[100], nl.load(x))
        return out

    x = floats((1, 8))
    expected = np.full((300, 8), 3, np.float32)
    expected[100] = x[0]
    same(launch(kernel, x), expected)


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16, np.int8])
def test_load_transpose2d(dtype):
    x = integers((32, 64), 0, 100, np.int32).astype(dtype)

    def kernel(x):
        out = nl.ndarray((64, 32), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load_transpose2d(x))
        return out

    same(launch(kernel, x), x.T)


def test_load_transpose2d_of_a_block():
    x = floats((32, 64))

    def kernel(x):
        out = nl.ndarray((64, 32), x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:32, 0:64]
        nl.store(out, 0)
        loaded = nl.load_transpose2d(x[i_p, i_f], mask=(i_p < 16) & (i_f < 32))
        o_p, o_f = nl.mgrid[0:64, 0:32]
        nl.store(out, loaded, mask=(o_p < 32) & (o_f < 16))
        return out

    expected = np.zeros((64, 32), np.float32)
    expected[:32, :16] = x[:16, :32].T
    same(launch(kernel, x), expected)


def _rows():
    return np.random.default_rng(0).permutation(64)[:20].astype(np.int32)[:, None]


def test_indirect_loads_and_stores():
    x, rows = floats((64, 12)), _rows()

    def kernel(x, rows):
        out = nl.ndarray((64, 12), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, 0)
        at = nl.load(rows)
        i_f = nl.arange(12)[None, :]
        nl.store(out[at, i_f], nl.load(x[at, i_f]))
        return out

    expected = np.zeros_like(x)
    expected[rows[:, 0]] = x[rows[:, 0]]
    same(launch(kernel, x, rows), expected)


@pytest.mark.parametrize("value", ["tile", "row", "number"])
def test_atomic_rmw(value):
    x, rows = integers((64, 12), 0, 9, np.float32), _rows()
    added = integers((20, 12), 0, 9, np.float32, seed=1)

    def kernel(x, rows, added):
        out = nl.ndarray((64, 12), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        at, i_f = nl.load(rows), nl.arange(12)[None, :]
        what = {"tile": nl.load(added), "row": nl.load(added[0:1]), "number": 2.0}[value]
        nl.atomic_rmw(out[at, i_f], what, op=np.add)
        return out

    expected = x.copy()
    expected[rows[:, 0]] += {"tile": added, "row": added[:1], "number": 2.0}[value]
    same(launch(kernel, x, rows, added), expected)


def test_atomic_rmw_with_a_mask():
    x, rows = integers((64, 12), 0, 9, np.float32), _rows()

    def kernel(x, rows):
        out = nl.ndarray((64, 12), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        at, (i_p, i_f) = nl.load(rows), nl.mgrid[0:20, 0:12]
        columns = nl.arange(12)[None, :]
        nl.atomic_rmw(out[at, columns], 1, op=nl.add, mask=(i_p < 7) & (i_f > 3))
        return out

    expected = x.copy()
    expected[rows[:7, 0], 4:] += 1
    same(launch(kernel, x, rows), expected)


def test_new_tiles():
    def function(a):
        blocks = nl.zeros((2, nl.par_dim(16), 8), np.float32)
        blocks[1] = a
        again = nl.empty_like(blocks)
        assert (again.shape, again[0].shape) == ((2, 16, 8), (16, 8))
        again[0] = nl.full((16, 8), 2.5, np.float32)
        total = nl.zeros_like(a)
        for tile in (blocks[0], blocks[1], again[0], nl.ones((16, 8), np.float32)):
            total += tile
        return total

    x = integers((16, 8), 0, 9, np.float32)
    same(run(function, x), x + np.float32(3.5))
    assert run(lambda a: nl.zeros_like(a, np.int32), x).dtype == np.int32


def test_constants():
    table = integers((8, 16), -50, 50, np.int8)

    def function(a):
        constant = nl.load(nl.shared_constant(table, dtype=np.float32))
        identity = nl.load(nl.shared_identity_matrix(8, np.float32))
        return nl.add(nl.matmul(identity, a), constant)

    x = integers((8, 16), 0, 9, np.float32)
    same(run(function, x), x + table)
    identity = run(lambda a: nl.load(nl.shared_identity_matrix(8)), x)
    same(identity, np.eye(8, dtype=np.uint8))


@pytest.mark.parametrize("bits", [0x7FEDCBA9, 0xFFEDCBA9, 0, -1])
def test_random_numbers(bits):
    def function(a):
        nl.random_seed(seed=bits)
        first = nl.rand((64, 16))
        nl.random_seed(a)
        second = nl.rand((64, 16))
        nl.random_seed(5, mask=nl.arange(1)[:, None] > 0)
        third = nl.rand((64, 16))
        out = nl.ndarray((64, 3, 16), np.float32)
        for at, tile in enumerate((first, second, third)):
            out[:, at, :] = tile
        return out

    seed = np.array([[bits]]).astype(np.int32)
    drawn = run(function, seed)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.02
    np.testing.assert_array_equal(drawn[:, 0], drawn[:, 1])
    assert (drawn[:, 1] != drawn[:, 2]).any()


@pytest.mark.parametrize("as_tile", [False, True])
def test_dropout(as_tile):
    x = np.full((64, 100), 3, np.float32)
    rate = np.array([[0.25]], np.float32)

    def function(a, rate):
        return nl.dropout(a, rate if as_tile else 0.25)

    left = run(function, x, rate)
    assert set(np.unique(left)) == {0, 3}
    assert abs((left == 0).mean() - 0.25) < 0.03


def test_masked_elements_are_omitted_from_computations_on_them():
    x, w = floats((100, 20), scale=1.0), floats((1, 20), seed=1, scale=1.0)
    x[0, :8] = 0.5
    w[0, :8] = 2

    def kernel(x, w):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:64, 0:20]
        weights = nl.load(w)
        for block in range(2):
            at = block * 64 + i_p
            tile = nl.load(x[at, i_f], mask=at < 100)
            total = nl.sum(nl.square(tile), axis=1)
            scaled = nl.multiply(tile * nl.rsqrt(total + 1.0), weights)
            nl.store(out[at, i_f], scaled, mask=at < 100)
        return out

    root = np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True) + 1)
    np.testing.assert_allclose(launch(kernel, x, w), x / root * w, rtol=1e-5)


@pytest.mark.parametrize("through", ["tile", "view", "instruction"])
def test_masked_elements_are_assigned_with_the_rest(through):
    x = floats((64, 20))

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        i_p = nl.arange(64)[:, None]
        tile, copied = nl.load(x, mask=i_p < 32), nl.zeros(x.shape, x.dtype)
        if through == "tile":
            tile[32:64] = nl.load(x[32:64])
        elif through == "view":
            rest = tile[32:64]
            rest[...] = nl.load(x[32:64])
        else:
            nisa.dma_copy(dst=tile[32:64], src=x[32:64])
        copied[...] = tile
        nl.store(out, copied)
        return out

    same(launch(kernel, x), x)
