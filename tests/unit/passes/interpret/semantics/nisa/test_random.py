"""rng, rand2, dropout, set_rng_seed, rand_set_state and rand_get_state.

Against scalar generators number by number, and against statistics of random numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    FORMS,
    PSUM_FORMS,
    C,
    Call,
    D,
    Form,
    Tile,
    View,
    X,
    Z,
    any_bits,
    arranged,
    call,
    each_form,
    filled,
    holding,
    some,
    to_each_dtype,
    whole_numbers,
)
from support.nisa.naive import STORAGE, Array
from support.nisa.naive_random import Xorwow
from support.oracle import INTEGERS

from nkijit.passes.interpret.records.errors import InterpretationError

RNG = call("rng", dst=Z)
RAND2 = call("rand2", dst=Z, min=-1.0, max=2.5)
DROPOUT = call("dropout", dst=Z, data=X, prob=0.4)
SEED, S, T = View("seed"), View("s"), View("t")
SET_SEED = call("set_rng_seed", src_seeds=SEED)


def seeded(seed: int) -> Tile:
    return holding("uint32", [[seed]])


def words(partitions: int, count: int) -> Tile:
    numbers = np.random.default_rng(0).integers(0, 2**32, (partitions, count))
    return holding("uint32", numbers)


# -- number by number -----------------------------------------------------------------------------


def test_xorwow_by_hand() -> None:
    """The first number that Marsaglia's program gives for the seed values of his paper."""
    generator = Xorwow(123456789, 362436069, 521288629, 88675123, 5783321, 6615241)
    t = 123456789 ^ (123456789 >> 2)
    v = (5783321 ^ (5783321 << 4)) ^ (t ^ (t << 1))
    assert generator.next() == (v + 6615241 + 362437) % 2**32
    state = holding("uint32", [[123456789, 362436069, 521288629, 88675123, 5783321, 6615241]])
    calls = [call("rand_set_state", src_seeds=S), call("rng", dst=Z, engine="gpsimd")]
    z = arranged(calls, tiles={"s": state, "z": Tile("uint32", (1, 1))}).run()["z"]
    assert int(z[0, 0]) == (v + 6615241 + 362437) % 2**32


@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_data_types_of_rng(dtype: str, engine: str) -> None:
    arranged([call("rng", dst=Z, engine=engine)], dtype, shape=(3, 11)).check()


@pytest.mark.parametrize("shape", [(1, 1), (128, 1), (1, 2), (2, 3), (2, 4), (2, 5), (3, 23)])
@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_sequences_go_on(engine: str, shape: tuple[int, int]) -> None:
    """Over instructions of every number of elements that turns can end with."""
    width = shape[1]
    calls = [call("rng", dst=Z[:, i * width : (i + 1) * width], engine=engine) for i in range(3)]
    z = {"z": (shape[0], 3 * width)}
    arranged(calls, "uint32", shapes=z).check()


def test_lanes_are_partitions() -> None:
    calls = [
        call("rng", dst=Z[0:2], engine="gpsimd"),
        call("rng", dst=Z[0:4], engine="gpsimd"),
        call("rng", dst=Z[32:40]),
        call("dropout", dst=Z[0:4], data=Z[32:36], prob=0.5),
        call("rng", dst=Z[32:36]),
    ]
    arranged(calls, "uint32", shapes={"z": (64, 9)}).check()


ANY_TILE = [form for form in (*FORMS, *PSUM_FORMS) if form.needs == {"z"}]


@each_form([RAND2], ANY_TILE)
def test_forms_of_random_numbers(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@pytest.mark.parametrize("form", ANY_TILE, ids=str)
def test_forms_of_random_bits(form: Form) -> None:
    form.build(RNG, "int32", filled).check()


FLOATS = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32", "tfloat32")


def test_data_types_of_rand2() -> None:
    made = call("rand2", dst=Z, min=-3.0, max=200)
    to_each_dtype(made, "float32", dtypes=(*FLOATS, *INTEGERS)).check()


LIMITS = [(0, 1), (-1, 1), (1e-45, 3e-45), (1e30, 3e38), (-1e38, 1e38), (16777216, 16777218)]


@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_limits_of_rand2(low: float, high: float) -> None:
    program = arranged([call("rand2", dst=Z, min=low, max=high)], shape=(4, 50))
    program.check()
    z = program.run()["z"]
    assert z.min() >= np.float32(low)
    assert z.max() <= np.float32(high)


@pytest.mark.parametrize(("low", "high"), [(C, D), (-5.0, D), (C, 500.0)], ids=str)
def test_limits_in_tiles(low: Any, high: Any) -> None:
    tiles = {
        "c": holding("float32", [[0.0], [-3.0], [1.0], [100.0]]),
        "d": holding("float32", [[1.0], [-2.0], [1.5], [200.0]]),
    }
    arranged([call("rand2", dst=Z, min=low, max=high)], tiles=tiles).check()


@pytest.mark.parametrize("low", [2.0, 3.0, math.nan, -math.inf])
def test_wrong_limits_in_tiles(low: float) -> None:
    tiles = {"c": holding("float32", [[0.0], [1.0], [low], [1.0]])}
    made = call("rand2", dst=Z, min=C, max=2.0)
    message = rf"rand2: in partition 2 of the tile 'min' is {low:g} and 'max' is 2"
    with pytest.raises(InterpretationError, match=message):
        arranged([made], tiles=tiles).run()


# -- dropout --------------------------------------------------------------------------------------


@each_form([call("dropout", dst=Z, data=X, prob=C)])
def test_forms_of_dropout(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("dtype", STORAGE)
def test_dropout_keeps_bits(dtype: str) -> None:
    program = arranged([DROPOUT], dtype, any_bits, shape=(4, 60))
    x, z = program.tiles["x"].data, program.run()["z"]
    bits = f"u{x.dtype.itemsize}"
    kept = z.view(bits) != 0
    assert (z.view(bits)[kept] == x.view(bits)[kept]).all()
    assert 0.2 < kept[x.view(bits) != 0].mean() < 0.8
    program.check()


@pytest.mark.parametrize(("probability", "kept"), [(0.0, 60), (0, 60), (1.0, 0), (1, 0)])
def test_dropout_of_none_and_of_all(probability: float, kept: int) -> None:
    x = holding("int32", np.arange(1, 61).reshape(4, 15))
    made = call("dropout", dst=Z, data=X, prob=probability)
    z = arranged([made], "int32", shape=(4, 15), tiles={"x": x}).run()["z"]
    assert np.count_nonzero(z) == kept


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3", "float16"])
def test_probabilities_in_tiles(dtype: str) -> None:
    tiles = {
        "x": holding("float32", np.ones((5, 400))),
        "p": holding(dtype, [[0.0], [0.25], [0.5], [1.0], [math.nan]]),
    }
    program = arranged(
        [call("dropout", dst=Z, data=X, prob=View("p"))], shapes={"z": (5, 400)}, tiles=tiles
    )
    program.check()
    rates = 1 - program.run()["z"].mean(axis=1)
    assert rates[[0, 3, 4]].tolist() == [0, 1, 0]
    assert abs(rates[1] - 0.25) < 0.1
    assert abs(rates[2] - 0.5) < 0.1


# -- seeds and states -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_seeds(dtype: str, target: str) -> None:
    bits = np.array([[0x80000001]], np.uint32).view(STORAGE[dtype])
    calls = [
        call("rng", dst=Z[:, 0:5]),
        SET_SEED,
        call("rng", dst=Z[:, 5:10]),
        call("rng", dst=Z[:, 10:15]),
        SET_SEED,
        call("rng", dst=Z[:, 15:20]),
    ]
    tiles = {"seed": Tile(dtype, (1, 1), data=bits), "z": Tile("uint32", (7, 20))}
    program = arranged(calls, tiles=tiles, target=target)
    program.check()
    z = program.run()["z"]
    assert (z[:, 5:10] == z[:, 15:20]).all()
    assert (z[:, 5:10] != z[:, 10:15]).all()


def test_a_run_begins_as_with_seed_0() -> None:
    calls = [call("rng", dst=Z[:, 0:9]), SET_SEED, call("rng", dst=Z[:, 9:18])]
    z = arranged(calls, tiles={"seed": seeded(0), "z": Tile("uint32", (128, 18))}).run()["z"]
    assert (z[:, :9] == z[:, 9:]).all()


def test_a_seed_in_psum() -> None:
    tiles = {"seed": holding("int32", [[7]], "psum")}
    arranged([SET_SEED, RNG], "int32", tiles=tiles).check()


def test_seeds_leave_the_gpsimd_engine_alone() -> None:
    calls = [
        call("rng", dst=Z[:, 0:6], engine="gpsimd"),
        SET_SEED,
        call("rng", dst=Z[:, 6:12], engine="gpsimd"),
        call("rng", dst=Z[:, 12:18]),
        call("rng", dst=Z[:, 18:24], engine="gpsimd"),
    ]
    arranged(calls, tiles={"seed": seeded(5), "z": Tile("uint32", (3, 24))}).check()


ENGINES = [("gpsimd", 6, "trn2"), ("gpsimd", 6, "trn3"), ("vector", 24, "trn3")]


@pytest.mark.parametrize("first", [0, 32, 96])
@pytest.mark.parametrize(("engine", "count", "target"), ENGINES)
def test_states(engine: str, count: int, target: str, first: int) -> None:
    """The state set is the state got, numbers continue from it, and other lanes do not change."""
    rows = slice(first, first + 5)
    calls = [
        call("rand_set_state", src_seeds=S[rows], engine=engine),
        call("rand_get_state", dst=T[rows, 0:count], engine=engine),
        call("rng", dst=Z[:, 0:7], engine=engine),
        call("rand_get_state", dst=T[rows, count : 2 * count], engine=engine),
        call("rng", dst=Z[:, 7:12], engine=engine),
    ]
    tiles = {"s": words(128, count), "t": Tile("uint32", (128, 2 * count))}
    program = arranged(calls, tiles=tiles | {"z": Tile("uint32", (128, 12))}, target=target)
    program.check(unwritten=True)
    assert (program.run(unwritten=True)["t"][rows, :count] == tiles["s"].data[rows]).all()


@pytest.mark.parametrize(("engine", "count", "target"), ENGINES)
def test_a_state_is_taken_up_where_it_was_left(engine: str, count: int, target: str) -> None:
    calls = [
        call("rng", dst=Z[:, 0:5], engine=engine),
        call("rand_get_state", dst=S, engine=engine),
        call("rng", dst=Z[:, 5:14], engine=engine),
        call("rand_set_state", src_seeds=S, engine=engine),
        call("rng", dst=Z[:, 14:23], engine=engine),
    ]
    tiles = {"s": Tile("uint32", (9, count)), "z": Tile("uint32", (9, 23))}
    z = arranged(calls, tiles=tiles, target=target).run()["z"]
    assert (z[:, 5:14] == z[:, 14:23]).all()


def test_a_state_of_the_vector_engine_in_psum() -> None:
    calls = [call("rand_get_state", dst=S, engine="vector")]
    arranged(calls, tiles={"s": Tile("uint32", (4, 24), "psum")}).check()


@given(
    st.sampled_from(ENGINES),
    st.lists(st.integers(1, 13), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
)
@some
def test_any_sequence(case: tuple[str, int, str], widths: list[int], word: int) -> None:
    engine, count, target = case
    starts = np.cumsum([0, *widths]).tolist()
    calls = [call("rand_set_state", src_seeds=S, engine=engine)] + [
        call("rng", dst=Z[:, start : start + width], engine=engine)
        for start, width in zip(starts[:-1], widths, strict=True)
    ]
    s = np.random.default_rng(word).integers(0, 2**32, (2, count))
    tiles = {"s": holding("uint32", s), "z": Tile("uint32", (2, starts[-1]))}
    arranged(calls, tiles=tiles, target=target).check()


# -- statistics -----------------------------------------------------------------------------------

SAMPLES = [("vector", 0), ("vector", 1), ("vector", 2**32 - 1), ("gpsimd", 0)]
WIDE = (128, 1024)


def sample(engine: str, seed: int) -> Array:
    calls = [SET_SEED, call("rng", dst=Z, engine=engine)]
    tiles = {"seed": seeded(seed), "z": Tile("uint32", WIDE)}
    return arranged(calls, tiles=tiles).run()["z"]


def correlation(a: Array, b: Array) -> float:
    return float(np.corrcoef(a.ravel().astype(np.float64), b.ravel().astype(np.float64))[0, 1])


@pytest.mark.parametrize(("engine", "seed"), SAMPLES)
def test_bits_are_uniform(engine: str, seed: int) -> None:
    """Chi-square of each byte of the numbers: 255 degrees of freedom, five standard deviations."""
    z = sample(engine, seed)
    for shift in (0, 8, 16, 24):
        counts = np.bincount(((z >> shift) & 255).ravel(), minlength=256)
        expected = z.size / 256
        chi_square = ((counts - expected) ** 2 / expected).sum()
        assert abs(chi_square - 255) < 5 * math.sqrt(2 * 255)


@pytest.mark.parametrize(("engine", "seed"), SAMPLES)
def test_neighbours_are_not_correlated(engine: str, seed: int) -> None:
    z = sample(engine, seed)
    limit = 5 / math.sqrt(z.size)
    for distance in (1, 2, 3, 4, 5, 8, 20):
        assert abs(correlation(z[:, :-distance], z[:, distance:])) < limit
    for distance in (1, 2, 4, 16, 32, 64):
        assert abs(correlation(z[:-distance], z[distance:])) < 1.5 * limit


@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_lanes_are_independent(engine: str) -> None:
    """No two lanes share a number at the same place; all pairs are nearly uncorrelated."""
    z = sample(engine, 0)
    correlations = np.corrcoef(z.astype(np.float64))
    np.fill_diagonal(correlations, 0)
    assert np.abs(correlations).max() < 6 / math.sqrt(z.shape[1])
    assert len(np.unique(z)) > z.size - 20


def test_seeds_are_independent() -> None:
    samples = [sample("vector", seed) for seed in (0, 1, 2, 2**31, 2**32 - 1)]
    samples.append(sample("gpsimd", 0))
    for i, a in enumerate(samples):
        for b in samples[:i]:
            assert abs(correlation(a, b)) < 5 / math.sqrt(a.size)


def test_moments_of_rand2() -> None:
    program = arranged(
        [call("rand2", dst=Z, min=-1.0, max=3.0)], tiles={"z": Tile("float32", WIDE)}
    )
    z = program.run()["z"].astype(np.float64)
    deviation = 4 / math.sqrt(12)
    assert abs(z.mean() - 1) < 5 * deviation / math.sqrt(z.size)
    assert abs(z.var() / deviation**2 - 1) < 5 * math.sqrt(0.8 / z.size)
    assert z.min() >= -1
    assert z.max() <= 3


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.5, 0.9])
def test_rate_of_dropout(probability: float) -> None:
    x = holding("float32", np.ones(WIDE))
    made = call("dropout", dst=Z, data=X, prob=probability)
    dropped = arranged([made], tiles={"x": x, "z": Tile("float32", WIDE)}).run()["z"] == 0
    deviation = math.sqrt(probability * (1 - probability) / dropped.size)
    assert abs(dropped.mean() - probability) < 5 * deviation
    assert abs(correlation(dropped[:, 1:], dropped[:, :-1])) < 5 / math.sqrt(dropped.size)
