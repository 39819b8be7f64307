"""Matrix products, shapes, selection and gathering of the classic language, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.classic_language import BFLOAT16, floats, integers, launch, near, run, same

import nkijit.classic as nki
import nkijit.classic.language as nl


def _matrix(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


@pytest.mark.parametrize("sizes", [(128, 128, 512), (32, 64, 20), (1, 1, 1), (100, 7, 3)])
def test_matmul(sizes):
    m, k, n = sizes
    x, y = _matrix(m, k), _matrix(k, n, seed=1)
    expected = x.astype(np.float64) @ y
    near(run(nl.matmul, x, y), expected, rtol=1e-4, atol=1e-4)
    transposed = run(lambda a, b: nl.matmul(a, b, transpose_x=True), x.T.copy(), y)
    near(transposed, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("transpose_x", [False, True])
def test_matmul_accumulates(transpose_x):
    x, y = _matrix(64, 128), _matrix(128, 32, seed=1)

    def kernel(x, y):
        total = nl.zeros((64, 32), np.float32, buffer=nl.psum)
        for block in range(4):
            part = slice(block * 32, (block + 1) * 32)
            left = nl.load(x[part]) if transpose_x else nl.load(x[:, part])
            total += nl.matmul(left, nl.load(y[part]), transpose_x=transpose_x)
        out = nl.ndarray((64, 32), np.float32, buffer=nl.shared_hbm)
        nl.store(out, total)
        return out

    actual = launch(kernel, x.T.copy() if transpose_x else x, y)
    near(actual, x.astype(np.float64) @ y, rtol=1e-4, atol=1e-4)


def test_matmul_with_a_mask_of_its_three_axes():
    x, y = _matrix(128, 64), _matrix(128, 48, seed=1)
    i_k, i_m, i_n = nl.mgrid[0:128, 0:64, 0:48]
    mask = (i_k < 100) & (i_m < 30) & (i_n < 20)
    actual = run(
        lambda a, b: nl.matmul(a, b, transpose_x=True, mask=mask),
        x,
        y,
        mask=lambda p, f: (p < 30) & (f < 20),
    )
    expected = np.zeros((64, 48))
    expected[:30, :20] = x[:100, :30].T.astype(np.float64) @ y[:100, :20]
    near(actual, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
@pytest.mark.parametrize("shape", [(128, 128), (32, 64), (5, 1)])
def test_transpose(shape, dtype):
    x = _matrix(*shape).astype(dtype)
    same(run(nl.transpose, x), x.T)
    same(run(nl.transpose, x, psum=(0,)), x.T)


def test_transpose_of_a_block():
    x = _matrix(64, 32)
    i_p, i_f = nl.mgrid[0:64, 0:32]
    actual = run(
        lambda a: nl.transpose(a, mask=(i_p < 20) & (i_f < 10)),
        x,
        mask=lambda p, f: (p < 10) & (f < 20),
    )
    expected = np.zeros((32, 64), np.float32)
    expected[:10, :20] = x[:20, :10].T
    same(actual, expected)


def test_where():
    x, y = floats((64, 12)), floats((64, 12), seed=1)
    chosen = x < y
    same(run(lambda a, b: nl.where(nl.less(a, b), a, b), x, y), np.where(chosen, x, y))
    same(run(lambda a, b: nl.where(a < b, a, 5.0), x, y), np.where(chosen, x, np.float32(5)))
    same(run(lambda a, b: nl.where(a < b, 5.0, b), x, y), np.where(chosen, np.float32(5), y))
    half = run(lambda a, b: nl.where(a < b, a, b, dtype=nl.bfloat16), x, y)
    same(half, np.where(chosen, x, y).astype(BFLOAT16))


_P, _F = np.arange(128)[:, None], np.arange(64)[None, :]
PREDICATES = {
    "one": lambda p, f: p < 100,
    "causal": lambda p, f: f <= p,
    "both": lambda p, f: (p < 100) & (f < 50),
    "three": lambda p, f: (p >= 3) & (f + 2 * p < 90) & (f != 7),
    "equal": lambda p, f: f == p,
    "nowhere": lambda p, f: f > 100,
    "everywhere": lambda p, f: f >= 0,
}


@pytest.mark.parametrize("how", ["mgrid", "arange"])
@pytest.mark.parametrize("name", PREDICATES)
def test_where_takes_a_comparison_of_indices(name, how):
    x, y = floats((128, 64)), floats((128, 64), seed=1)
    p, f = nl.mgrid[0:128, 0:64]
    if how == "arange":
        p, f = nl.arange(128)[:, None], nl.arange(64)[None, :]
    predicate = PREDICATES[name]
    holds = np.broadcast_to(predicate(_P, _F), (128, 64))

    def chosen(one, two, dtype=None):
        return lambda *tiles: nl.where(predicate(p, f), one(tiles), two(tiles), dtype=dtype)

    def first(tiles):
        return tiles[0]

    def second(tiles):
        return tiles[1]

    def number(tiles):
        return -np.inf

    low = np.float32(-np.inf)
    same(run(chosen(first, number), x), np.where(holds, x, low))
    same(run(chosen(number, first), x), np.where(holds, low, x))
    same(run(chosen(first, second), x, y), np.where(holds, x, y))
    same(run(chosen(first, number), x, psum=(0,)), np.where(holds, x, low))
    half = np.where(holds, x, low).astype(BFLOAT16)
    same(run(chosen(first, number, nl.bfloat16), x), half)


def test_where_with_a_comparison_broadcasts_converts_and_takes_a_mask():
    p, f = nl.mgrid[0:128, 0:64]
    x, column = integers((128, 64), 2**24, 2**30, np.int32), floats((128, 1))
    big = 2**24 + 1
    same(run(lambda a: nl.where(f <= p, a, big), x), np.where(_F <= _P, x, np.int32(big)))
    same(
        run(lambda a: nl.where(f <= p, a, 0.5), column), np.where(_F <= _P, column, np.float32(0.5))
    )
    truth = np.broadcast_to(_F < 50, (128, 64))
    same(
        run(lambda a: nl.where(f < 50, 1.0, nl.full((128, 1), 2.0, np.float32)), column),
        np.where(truth, np.float32(1), np.float32(2)),
    )
    actual = run(
        lambda a: nl.where(f <= p, a, 0.5, mask=f < 20), floats((128, 64)), mask=lambda p, f: f < 20
    )
    expected = np.where(_F <= _P, floats((128, 64)), np.float32(0.5))
    same(actual, np.where(_F < 20, expected, np.float32(0)))


def test_where_with_loop_variables_in_the_comparison():
    x = floats((4 * 32, 64))

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        p, f = nl.arange(32)[:, None], nl.arange(64)[None, :]
        for block in nl.affine_range(4):
            tile = nl.load(x[block * 32 + p, f])
            causal = nl.where(f <= block * 32 + p, tile, 0.0)
            nl.store(out[block * 32 + p, f], nl.where(block >= 2, causal, -1.0))
        return out

    below = np.where(np.arange(64) <= np.arange(128)[:, None], x, np.float32(0))
    below[:64] = -1
    same(launch(kernel, x), below)
    # The engines of a direct call.
    assert np.array_equal(nki.jit(kernel, platform_target="trn2")(x), below)


@pytest.mark.parametrize("name", PREDICATES)
def test_a_comparison_broadcast_to_a_shape_is_a_tile(name):
    p, f = nl.mgrid[0:128, 0:64]
    predicate = PREDICATES[name]
    holds = np.broadcast_to(predicate(_P, _F), (128, 64))
    x = floats((128, 64))

    def function(tile):
        mask = nl.broadcast_to(predicate(p, f), shape=(128, 64))
        assert mask.dtype == np.bool_
        return nl.where(nl.logical_and(mask, tile > 0), tile, 0.0)

    same(run(function, x), np.where(holds & (x > 0), x, np.float32(0)))


def test_where_broadcasts_and_takes_a_mask():
    x, row = floats((64, 12)), floats((1, 12), seed=1)
    column = (np.arange(64) % 3).astype(np.float32)[:, None]
    expected = np.where(column != 0, x, row)
    same(run(nl.where, column, x, row), expected)
    i_p, i_f = nl.mgrid[0:64, 0:12]
    actual = run(
        lambda c, a, b: nl.where(c, a, b, mask=(i_p < 40) & (i_f < 5)),
        column,
        x,
        row,
        mask=lambda p, f: (p < 40) & (f < 5),
    )
    cut = np.zeros_like(x)
    cut[:40, :5] = expected[:40, :5]
    same(actual, cut)


@pytest.mark.parametrize(
    ("shape", "to"),
    [
        ((1, 12), (64, 12)),
        ((64, 1), (64, 12)),
        ((1, 1), (64, 12)),
        ((16, 1, 4), (16, 3, 4)),
        ((1, 4), (16, 3, 4)),
    ],
)
def test_broadcast_to(shape, to):
    x = floats(shape)
    expected = np.broadcast_to(x, to).copy()
    same(run(lambda a: nl.broadcast_to(a, shape=to), x), expected)
    same(run(lambda a: a.broadcast_to(to), x), expected)
    same(run(lambda a: nl.broadcast_to(a, shape=to), x, psum=(0,)), expected)


def test_broadcast_to_its_own_shape_is_the_tile():
    def function(a):
        assert nl.broadcast_to(a, shape=(4, 6)) is a
        return a

    same(run(function, floats((4, 6))), floats((4, 6)))


def test_expand_dims():
    x = floats((16, 6))
    same(run(lambda a: nl.expand_dims(a, 2), x), x[:, :, None])
    same(run(lambda a: nl.expand_dims(a, (2, 3)), x), x[:, :, None, None])
    same(run(lambda a: a.expand_dims(-1), x), x[:, :, None])
    same(run(lambda a: nl.expand_dims(a, (1, -1)), x), x[:, None, :, None])
    assert nl.expand_dims(nl.arange(4), 1).shape == (4, 1)


def test_gather_flattened():
    data = floats((32, 4, 6))
    indices = integers((32, 3, 5), 0, 24, np.uint32)
    flat = np.take_along_axis(data.reshape(32, -1), indices.reshape(32, -1).astype(int), 1)
    expected = flat.reshape(indices.shape)
    same(run(nl.gather_flattened, data, indices), expected)
    half = run(lambda d, i: nl.gather_flattened(d, i, dtype=nl.bfloat16), data, indices)
    same(half, expected.astype(BFLOAT16))
    i_p, i_x, _ = nl.mgrid[0:32, 0:3, 0:5]
    actual = run(
        lambda d, i: nl.gather_flattened(d, i, mask=(i_p < 9) & (i_x < 2)),
        data,
        indices,
        mask=lambda p, x, y: (p < 9) & (x < 2),
    )
    cut = np.zeros_like(expected)
    cut[:9, :2] = expected[:9, :2]
    same(actual, cut)


def test_copies_and_casts():
    x = floats((16, 8))
    same(run(nl.copy, x), x)
    same(run(lambda a: nl.copy(a, dtype=nl.bfloat16), x, psum=(0,)), x.astype(BFLOAT16))
    same(run(lambda a: nl.static_cast(a, np.float16), x / 3e38), (x / 3e38).astype(np.float16))
    same(run(lambda a: a.astype(nl.bfloat16), x), x.astype(BFLOAT16))


def test_static_cast_of_arrays_and_numbers_needs_no_kernel():
    x = floats((4, 4))
    same(nl.static_cast(x, nl.bfloat16), x.astype(BFLOAT16))
    assert nl.static_cast(2.75, np.int32) == np.int32(2)
    assert nl.static_cast(2.75, "float16").dtype == np.float16


def test_device_print(capsys):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def function(a):
        nl.device_print("all:", a)
        i_p, i_f = nl.mgrid[0:2, 0:3]
        nl.device_print("some:", a[i_p, i_f], mask=i_f < 1)
        return a

    run(function, x)
    printed = capsys.readouterr().out
    assert printed.index("all:") < printed.index("some:")
    assert "5" in printed
    assert "5" not in printed[printed.index("some:") :]


def test_limits_of_data_types():
    assert nl.fp32.min == np.finfo(np.float32).min
    assert nl.bfp16.min == -np.inf
    assert nl.finfo(nl.bfloat16).max == ml_dtypes.finfo(ml_dtypes.bfloat16).max
    assert nl.finfo(np.float16).eps == np.finfo(np.float16).eps


def test_tile_sizes():
    assert (nl.tile_size.pmax, nl.tile_size.psum_fmax) == (128, 512)
    assert [index.shape for index in nl.gemm_grid()] == [(128, 512)] * 2
    assert [index.shape for index in nl.gemm_stationary_grid()] == [(128, 128)] * 2
