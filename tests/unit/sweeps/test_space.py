"""Spaces as text, and the grids that they span."""

from __future__ import annotations

from typing import Any

import pytest

from nkijit import TensorSpec
from nkijit.sweeps.space import Interval, SpaceError, axis_of, points_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("n=1,2,4", [1, 2, 4]),
        ("n=64:193:64", [64, 128, 192]),
        ("n=3:0:-1", [3, 2, 1]),
        ("n=2:4", [2, 3]),
        ("n=64..192:64", [64, 128, 192]),
        ("n=64..200:64", [64, 128, 192]),
        ("n=-1..1", [-1, 0, 1]),
        ("n=64..1024:*2", [64, 128, 256, 512, 1024]),
        ("n=3..80:*3", [3, 9, 27]),
        ("n=5..5", [5]),
        ("n=0.1..0.5:0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("n=1..2:0.5", [1.0, 1.5, 2.0]),
        ("n=0.5..4:*2", [0.5, 1.0, 2.0, 4.0]),
        ("n=true,none,'a,b'", [True, None, "a,b"]),
        ("n=(1, 2),[3]", [(1, 2), [3]]),
        ("n=4x8:int8", [TensorSpec((4, 8), "int8")]),
        ("n=", []),
    ],
)
def test_axes(text: str, values: list[Any]) -> None:
    name, found = axis_of(text)
    assert (name, list(found)) == ("n", values)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("n=1..4096:log", Interval(1, 4096, log=True)),
        ("n=0.1..0.9", Interval(0.1, 0.9)),
        ("n=1e-3..1:log", Interval(1e-3, 1, log=True)),
    ],
)
def test_intervals_are_for_samplers(text: str, values: Interval) -> None:
    name, found = axis_of(text)
    assert found == values
    with pytest.raises(SpaceError, match="too many values for a grid"):
        points_of({name: found})


@pytest.mark.parametrize(
    "text",
    [
        *("n", "=3", "a b=3", "n=fals", "n=1:2:0", "n=[1"),
        *("n=2..1", "n=1..2:0", "n=1..2:-1", "n=1..8:*1", "n=0..8:*2", "n=0..8:log", "n=1..8:lin"),
        *("n=1..", "n=..8", "n=1..2..3", "n=0..1e12:*1.0000000001", "n=0..1:1e-12"),
    ],
)
def test_values_that_are_not_axes(text: str) -> None:
    with pytest.raises(SpaceError):
        axis_of(text)


def test_the_last_axis_changes_fastest() -> None:
    points = points_of({"a": [1, 2], "b": range(2)})
    assert points == [{"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 2, "b": 0}, {"a": 2, "b": 1}]


def test_too_many_points_are_refused_at_once() -> None:
    with pytest.raises(SpaceError, match="more than 1,000,000"):
        points_of({name: range(1000) for name in "abc"})
