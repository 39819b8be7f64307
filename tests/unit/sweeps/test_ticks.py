"""Ticks of a sweep's plot are round numbers."""

from __future__ import annotations

import math

import pytest

from nkijit.sweeps.page import ticks


@pytest.mark.parametrize("end", [1.0, 7.0, 63.0, 999.0, 1234.5, 82_000.0, 1e7])
def test_ticks_of_time_are_one_two_or_five_times_a_power_of_ten(end: float) -> None:
    found = ticks(end, 10.0)
    step = found[1]
    assert step / 10 ** math.floor(math.log10(step)) in (1.0, 2.0, 5.0)
    assert found == [step * n for n in range(len(found))]
    assert found[-1] <= end < found[-1] + step
    assert 2 <= len(found) <= 7


@pytest.mark.parametrize("end", [6.0, 1100.0, 24_576.0, 196_608.0])
def test_ticks_of_bytes_are_powers_of_two(end: float) -> None:
    found = ticks(end, 2.0)
    assert math.log2(found[1]).is_integer()
    assert found[-1] <= end
    assert 4 <= len(found) <= 7
