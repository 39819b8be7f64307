"""bn_stats and bn_aggr: means and variances within the roundings of their sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    COLUMN_LAYOUTS,
    READABLE,
    Tile,
    View,
    X,
    Z,
    arranged,
    call,
    holding,
    some,
    to_each_dtype,
    whole_numbers,
)
from support.oracle import INTEGERS, ROUNDED_TYPES, TINY

STATS = call("bn_stats", dst=Z, data=X)
AGGR = call("bn_aggr", dst=Z, data=X)


def ordinary(shape: tuple[int, ...], dtype: str = "float32", mean: float = 3.0) -> Tile:
    values = np.random.default_rng(0).standard_normal(shape) + mean
    return holding(dtype, values.astype(np.float32))


def triples(shape: tuple[int, int], seed: int = 0) -> Tile:
    """(count, mean, variance * count) of some samples."""
    random = np.random.default_rng(seed)
    values = np.empty((*shape, 3))
    values[..., 0] = random.integers(0, 257, shape)
    values[..., 1] = random.standard_normal(shape) * 5
    values[..., 2] = random.random(shape) * 300
    return holding("float32", values.reshape(shape[0], -1).astype(np.float32))


@pytest.mark.parametrize("shape", [(1, 1), (4, 2), (4, 3), (128, 5), (3, 511), (2, 512), (4, 3, 7)])
@pytest.mark.parametrize("mean", [0.0, 3.0, -1000.0])
def test_bn_stats(shape: tuple[int, ...], mean: float) -> None:
    x = ordinary(shape, mean=mean)
    arranged([STATS], shapes={"z": (shape[0], 6)}, tiles={"x": x}).check()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("layout", READABLE)
def test_layouts_of_data(layout: str, dtype: str) -> None:
    shape, steps = READABLE[layout]
    made = call("bn_stats", dst=Z, data=View("x", steps))
    arranged([made], dtype, whole_numbers, shapes={"x": shape, "z": (4, 6)}).check()


RESULTS = {
    "part": ((4, 13), Z[:, 5:11]),
    "strided": ((4, 12), Z[:, ::2]),
    "3-D": ((4, 2, 3), Z),
    "permuted": ((4, 3, 2), Z.then("permute", (0, 2, 1))),
    "partition-32": ((36, 6), Z[32:36]),
    "in-the-data": ((4, 12), X[:, 3:9]),
}


@pytest.mark.parametrize("layout", RESULTS)
def test_layouts_of_results(layout: str) -> None:
    shape, z = RESULTS[layout]
    made = call("bn_stats", dst=z, data=X)
    arranged([made], fill=whole_numbers, shapes={"z": shape}).check()


def test_statistics_in_place() -> None:
    made = call("bn_stats", dst=X, data=X)
    arranged([made], fill=whole_numbers, shape=(4, 6)).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(dtype: str) -> None:
    to_each_dtype(STATS, dtype, whole_numbers, shape=(4, 6)).check()


@pytest.mark.parametrize("dtype", ["float32", *INTEGERS])
def test_data_types_of_aggregates(dtype: str) -> None:
    results = ("float32", "bfloat16", "float8_e5m2", "int16")
    made = call("bn_aggr", dst=Z, data=X[:, 3:12])
    x = whole_numbers(dtype, (4, 12)).data
    x[:, 3::3] = 8
    program = to_each_dtype(made, dtype, dtypes=results, shape=(4, 2))
    arranged(program.calls, tiles=program.tiles | {"x": Tile(dtype, (4, 12), data=x)}).check()


def test_hard_numbers() -> None:
    inf, nan = math.inf, math.nan
    x = holding(
        "float32",
        [
            [inf, 1.0, 2.0, 3.0],
            [1.0, -inf, 2.0, inf],
            [nan, 0.0, 1.0, nan],
            [-0.0, 0.0, -0.0, 0.0],
            [TINY, -TINY, 3 * TINY, TINY],
            [1e18, 1.0, -1e18, 1e-18],
        ],
    )
    arranged([STATS], shapes={"z": (6, 6)}, tiles={"x": x}).check()


def test_one_element_has_no_odd_ones() -> None:
    results = arranged(
        [STATS], tiles={"x": holding("float32", [[7.0]]), "z": Tile("float32", (1, 6))}
    )
    assert results.run()["z"].tolist() == [[1, 7, 0, 0, 0, 0]]


@pytest.mark.parametrize("shape", [(1, 1), (4, 2), (128, 3), (5, 40)])
def test_bn_aggr(shape: tuple[int, int]) -> None:
    x = triples(shape)
    x.data[:, 0] += 1
    arranged([AGGR], shapes={"z": (shape[0], 2)}, tiles={"x": x}).check()


def test_nothing_to_aggregate() -> None:
    inf, nan = math.inf, math.nan
    x = holding(
        "float32",
        [[0, 0, 0, 0, 0, 0], [4, inf, 1, 4, 2, 1], [4, 1, nan, 4, 2, 1], [nan, 1, 1, 4, 2, 1]],
    )
    program = arranged([AGGR], shapes={"z": (4, 2)}, tiles={"x": x})
    mean = program.run()["z"][:, 0]
    assert np.isnan(mean[[0, 3]]).all()
    assert mean[1:3].tolist() == [inf, 1.5]
    assert np.isnan(program.run()["z"][:, 1]).all()


@pytest.mark.parametrize("column", COLUMN_LAYOUTS)
def test_layouts_of_means(column: str) -> None:
    z = {"column-3-D": ((4, 1, 2), Z), "column-at-partition-96": ((100, 2), Z[96:100])}
    shape, view = z.get(column, ((4, 5), Z[:, 1:4:2]))
    made = call("bn_aggr", dst=view, data=X)
    x = triples((4, 4))
    x.data[:, 0] += 1
    arranged([made], shapes={"z": shape}, tiles={"x": x}).check()


def test_aggregates_in_place() -> None:
    x = triples((4, 4))
    x.data[:, 0] += 1
    arranged([call("bn_aggr", dst=X[:, 0:2], data=X)], tiles={"x": x}).check()


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40), st.integers(1, 40))
@some
def test_any_numbers(values: list[float], cut: int) -> None:
    cut = min(cut, len(values))
    calls = [STATS.with_views({"x": X[:, :cut], "z": Z[:, :6]})]
    if len(values) > cut:
        calls.append(STATS.with_views({"x": X[:, cut:], "z": Z[:, 6:]}))
    tiles = {"x": holding("float32", [values])}
    arranged(calls, shapes={"z": (1, 12)}, tiles=tiles).check()


@pytest.mark.parametrize("lengths", [(100,), (512, 512), (512, 3), (1, 1, 1), (511, 512, 2)])
@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_mean_and_variance_of_several_tiles(lengths: tuple[int, ...], target: str) -> None:
    x = ordinary((4, sum(lengths)))
    calls: list[Any] = []
    start = 0
    for index, length in enumerate(lengths):
        part = X[:, start : start + length]
        calls.append(call("bn_stats", dst=Z[:, 6 * index : 6 * index + 6], data=part))
        start += length
    calls.append(call("bn_aggr", dst=View("m"), data=Z))
    shapes = {"z": (4, 6 * len(lengths)), "m": (4, 2)}
    result = arranged(calls, shapes=shapes, tiles={"x": x}, target=target).run()["m"]
    values = x.data.astype(np.float64)
    assert result[:, 0] == pytest.approx(values.mean(1), rel=1e-5)
    assert result[:, 1] == pytest.approx(values.var(1), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("buffers", [{"x": "psum"}, {"z": "psum"}, {"x": "psum", "z": "psum"}])
def test_buffers(buffers: dict[str, str]) -> None:
    arranged([STATS], fill=whole_numbers, shapes={"z": (4, 6)}, buffers=buffers).check()
