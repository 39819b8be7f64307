"""Errors that rounding explains, against sums and casts computed exactly with fractions."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from nkijit.passes.values.rounding import departs, rounding, tolerance

FLOATS = ["float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn"]
STORED = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
}


@pytest.mark.parametrize("name", FLOATS)
def test_one_rounding_is_explained_and_two_numbers_further_are_not(name: str):
    values = np.random.default_rng(0).uniform(-4, 4, 1000)
    stored = values.astype(np.float32).astype(STORED[name])
    exact = values.astype(np.float32)
    bound = tolerance(name, 0)
    assert not departs(stored, exact, bound).any()
    away = (stored.astype(np.float64) * (1 + 4 * rounding(name).unit)).astype(STORED[name])
    moved = np.abs(stored.astype(np.float64)) > 0.1  # further from zero than the tiniest numbers
    assert departs(away, stored.astype(np.float64), bound)[moved].all()


@pytest.mark.parametrize("depth", [8, 128, 1000])
def test_a_sum_in_float32_is_within_its_depth_also_where_terms_cancel(depth: int):
    rng = np.random.default_rng(depth)
    terms = (rng.standard_normal((50, depth)) * 100).astype(np.float32)
    total = np.zeros(50, np.float32)
    for column in terms.T:
        total = (total + column).astype(np.float32)
    exact = np.array([float(sum(map(Fraction, row.tolist()), Fraction(0))) for row in terms])
    scale = np.abs(terms.astype(np.float64)).sum(axis=1)
    assert not departs(total, exact, tolerance("float32", depth), scale=scale).any()
    # A term too few is not rounding.
    assert departs(total - terms.max(axis=1), exact, tolerance("float32", depth), scale=scale).all()


def test_operands_that_were_rounded_explain_more():
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((2, 64, 64))
    exact = one @ other
    narrow = [each.astype(ml_dtypes.bfloat16).astype(np.float32) for each in (one, other)]
    actual = (narrow[0] @ narrow[1]).astype(np.float32)
    scale = np.abs(one) @ np.abs(other)
    assert departs(actual, exact, tolerance("float32", 64), scale=scale).any()
    bound = tolerance("float32", 64, inputs="bfloat16", roundings=2)
    assert not departs(actual, exact, bound, scale=scale).any()


def test_nan_infinities_and_overflow():
    inf, nan = np.inf, np.nan
    bound = tolerance("float16")
    actual = np.array([nan, nan, 1.0, inf, inf, -inf, inf, 65504], np.float16)
    reference = np.array([nan, 1.0, nan, inf, 1e6, 1e6, 5.0, 1e6])
    found = departs(actual, reference, bound)
    assert found.tolist() == [False, True, True, False, False, True, True, True]


def test_types_without_infinity_saturate_or_give_nan():
    bound = tolerance("float8_e4m3fn")
    actual = np.array([448.0, np.nan, -448.0], ml_dtypes.float8_e4m3fn)
    assert departs(actual, np.array([1e4, 1e4, 1e4]), bound).tolist() == [False, False, True]


def test_integers_are_rounded_to_the_nearest_and_saturate():
    bound = tolerance("int8", 0)
    actual = np.array([2, 3, 2, 127], np.int8)
    assert departs(actual, np.array([2.5, 2.5, 3.0, 300.0]), bound).tolist() == [
        False,
        False,
        True,
        False,
    ]


def test_values_that_are_not_numbers_and_other_shapes_are_refused():
    with pytest.raises(ValueError, match="packed"):
        rounding("float8_e4m3fn_x4")
    with pytest.raises(ValueError, match="counts"):
        tolerance("float32", -1)
    with pytest.raises(ValueError, match=r"shapes differ: \(2,\) and \(3,\)"):
        departs(np.zeros(2), np.zeros(3), tolerance("float32"))
    assert rounding(np.float64).unit == 2.0**-53
    assert rounding("tfloat32").unit == 2.0**-11
    assert rounding("bool_").unit == 0


def test_nothing_finite_is_close_to_an_infinity():
    actual = np.array([1.0, -np.inf, 3e38, np.inf, np.nan], np.float32)
    reference = np.full(5, np.inf)
    expected = [True, True, True, False, True]
    assert departs(actual, reference, tolerance("float32")).tolist() == expected
    assert departs(actual, reference, tolerance("float32"), scale=np.inf).tolist() == expected
