"""`assert_close`: errors that rounding explains pass, larger ones are shown."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from nkijit.testing import assert_close

RNG = np.random.default_rng(0)
EXACT = RNG.standard_normal((256, 64))


def failure_of(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_close(*args, **kwargs)
    return str(raised.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_one_rounding_passes_and_one_further_unit_does_not(dtype: Any):
    stored = EXACT.astype(np.float32).astype(dtype)
    assert_close(stored, EXACT)
    assert_close(stored, stored, depth=0)
    wrong = stored.copy()
    bits = wrong.view(f"u{wrong.dtype.itemsize}")
    bits[200, 3] += 2
    message = failure_of(wrong, EXACT, depth=0)
    assert message.startswith("1 of 16,384 elements of result (0.01%)")
    assert "where: all of [200, 3]" in message
    row = message.split("\n")[5].split()
    assert row[:4] == ["[200,", "3]", "72", "3"]


def test_differences_are_in_units_of_the_last_place():
    one = np.full((4, 4), 1.5, np.float32)
    two = one.copy()
    two[1, 2] = np.float32(1.5) + 6 * np.finfo(np.float32).eps
    row = failure_of(two, one).split("\n")[5].split()
    assert row[-2] == "6.0"


def test_the_depth_of_a_sum():
    a, b = (RNG.standard_normal((64, 4096)).astype(np.float32) for _ in range(2))
    total = np.zeros(64, np.float32)
    for x, y in zip(a.T, b.T, strict=True):
        total += x * y
    exact = (a.astype(np.float64) * b).sum(1)
    scale = (np.abs(a).astype(np.float64) * np.abs(b)).sum(1)
    assert_close(total, exact, depth=4096)
    assert_close(total, exact, depth=4096, scale=scale)
    assert "1 of 64" in failure_of(total + np.eye(1, 64, 5)[0], exact, depth=4096)
    assert "elements of result" in failure_of(total, exact, depth=1)


def test_values_that_were_rounded_on_the_way():
    narrow = EXACT.astype(ml_dtypes.bfloat16).astype(np.float32)
    failure_of(narrow, EXACT)
    assert_close(narrow, EXACT, intermediate="bfloat16")
    twice = (narrow * 1.1).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert_close(twice, EXACT * 1.1, intermediate="bfloat16", roundings=2)


def test_nan_and_infinities():
    reference = np.array([np.nan, np.inf, -np.inf, 1e39, 1.0])
    good = np.array([np.nan, np.inf, -np.inf, np.inf, 1.0], np.float32)
    assert_close(good, reference)
    bad = np.array([1.0, -np.inf, np.nan, 2.0, np.inf], np.float32)
    message = failure_of(bad, reference)
    assert "5 of 5 elements" in message
    assert "1 NaN where the reference has none" in message
    assert "1 no NaN where the reference is NaN" in message
    assert "1 infinite where the reference is finite" in message
    assert "1 not the infinity of the reference" in message
    assert "NKIJIT_SANITIZE=1" in message


def test_all_of_it_nan_is_not_close():
    assert "4 of 4" in failure_of(np.full((2, 2), np.nan, np.float32), np.zeros((2, 2)))


def test_integers_are_compared_exactly():
    whole = np.arange(100, dtype=np.int32)
    assert_close(whole, whole)
    assert "1 of 100" in failure_of(whole, whole + (whole == 7))


def test_the_table_is_short_and_the_worst_come_first():
    off = np.zeros((128, 64))
    off[10:20, 5] = np.arange(10) + 1
    message = failure_of(off.astype(np.float32), np.zeros((128, 64)))
    assert "10 of 8,192 elements" in message
    assert "where: all of [10:20, 5]" in message
    lines = message.split("\n")
    assert lines[5].split()[:2] == ["[19,", "5]"]
    assert "  … 2 more" in lines


def test_whole_dimensions_are_said_so():
    wrong = np.zeros((128, 64), np.float32)
    wrong[:, 63] = 1
    assert "where: all of [:, 63]" in failure_of(wrong, np.zeros((128, 64)))
    wrong[0, 0] = 1
    assert "where: 2% of [:, :]" in failure_of(wrong, np.zeros((128, 64)))


def test_containers():
    one, two = np.zeros(3, np.float32), np.ones(3, np.float32)
    assert_close((one, two), [one, two])
    assert_close({"a": one, "b": (two,)}, {"b": [two], "a": one})
    assert "of result[1]" in failure_of((one, one), (one, two))
    assert "of result['b'][0]" in failure_of({"b": [one]}, {"b": [two]})
    assert "has 1 part, the reference 2" in failure_of([one], [one, two])
    assert "has ['a'], the reference ['b']" in failure_of({"a": one}, {"b": one})
    assert "of type tuple, the reference of ndarray" in failure_of((one,), one)
    assert "of type NoneType" in failure_of(None, one)
    assert "shape (3,), the reference (1, 3)" in failure_of(one, one[None])


def test_a_rounded_reference_is_noted():
    narrow = EXACT.astype(ml_dtypes.bfloat16)
    message = failure_of(narrow + narrow, narrow)
    assert "the reference is rounded to bfloat16 itself" in message
    assert "rounded to" not in failure_of(EXACT.astype(np.float32) * 2, EXACT)


def test_the_way_on():
    message = failure_of(np.zeros(2, np.float32), np.ones(2))
    assert "nkijit bisect" in message


def test_arrays_of_torch():
    torch = pytest.importorskip("torch")
    stored = torch.tensor(EXACT).to(torch.bfloat16)
    assert_close(stored, torch.tensor(EXACT))
    assert "16,384" in failure_of(stored * 2, torch.tensor(EXACT))
