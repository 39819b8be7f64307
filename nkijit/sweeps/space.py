"""The space of a sweep: values for some of a kernel's arguments, and their grid."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import counted
from nkijit.discovery.argument_text import ArgumentTextError, argument_of, with_tensors

Point = dict[str, Any]
"""A value for each swept argument."""

MOST_POINTS = 1_000_000
_RANGE = re.compile(r"\s*(-?\d+):(-?\d+)(?::(-?\d+))?\s*")
_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_INTERVAL = re.compile(rf"\s*({_NUMBER})\.\.({_NUMBER})(?::(log|\*?{_NUMBER}))?\s*")
_SLACK = 1e-9
"""The tolerance for rounding errors when a range's number of steps is computed."""


class SpaceError(ValueError):
    """A space without variants, or a text that does not describe a space."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, for samplers only.

    The numbers are integers if `low` and `high` are integers.
    """

    low: float
    high: float
    log: bool = False
    """Whether samplers use a logarithmic scale."""

    def __iter__(self) -> Iterator[Any]:
        raise SpaceError(
            f"{self.low:g}..{self.high:g} has too many values for a grid: give it a step, "
            f"{self.low:g}..{self.high:g}:STEP or :*FACTOR, or search with a sampler"
        )


def axis_of(text: str) -> tuple[str, Iterable[Any]]:
    """Parse an axis in the form of `--space`: a name, and values or a range.

    Values have the form of `-a`, separated by commas. A range `low..high` includes both ends, and
    has a step or a factor (`64..1024:64`, `64..1024:*2`), or neither, for samplers (`0.1..0.9`,
    `1..4096:log`). `start:stop:step` is Python's range, without its end.

    Raises:
        SpaceError: the text is invalid.

    Example:
        `axis_of("tile=128,256")` is `("tile", [128, 256])`, and `axis_of("k=64..192:64")` is `("k",
        range(64, 193, 64))`.
    """
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise SpaceError(
            f"{text}: expected NAME=VALUES, e.g. tile_n=128,256, tile_k=64..512:64 or "
            "tile_m=64..1024:*2"
        )
    match = _INTERVAL.fullmatch(values)
    if match is not None:
        return name, _interval(text, match[1], match[2], match[3])
    match = _RANGE.fullmatch(values)
    if match is not None:
        start, stop, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if not step:
            raise SpaceError(f"{text}: the step of a range is not 0")
        return name, range(start, stop, step)
    try:
        return name, cast("list[Any]", argument_of(f"[{values}]", Path()))
    except ArgumentTextError as error:
        raise SpaceError(f"{name}: {error}") from None


def _interval(text: str, first: str, last: str, step: str | None) -> Iterable[Any]:
    """Return the values of a range `low..high` with its step, factor or scale."""
    low, high = _number(first), _number(last)
    if low > high:
        raise SpaceError(f"{text}: {first} is more than {last}")
    if step == "log":
        if low <= 0:
            raise SpaceError(f"{text}: numbers on a logarithmic scale are more than 0")
        return Interval(low, high, log=True)
    if step is None:
        is_whole = isinstance(low, int) and isinstance(high, int)
        return range(int(low), int(high) + 1) if is_whole else Interval(low, high)
    by = _number(step.removeprefix("*"))
    if step.startswith("*"):
        if by <= 1 or low <= 0:
            raise SpaceError(f"{text}: a factor is more than 1, of numbers that are more than 0")
        count = math.floor(math.log(high / low) / math.log(by) + _SLACK)
        return _some(text, count, lambda index: low * by**index)
    if by <= 0:
        raise SpaceError(f"{text}: a step is more than 0")
    if isinstance(low, int) and isinstance(high, int) and isinstance(by, int):
        return range(low, high + 1, by)
    return _some(text, math.floor((high - low) / by + _SLACK), lambda i: _decimal(low + i * by))


def _some(text: str, count: int, value: Callable[[int], Any]) -> list[Any]:
    if count >= MOST_POINTS:
        raise SpaceError(f"{text}: more than {counted(MOST_POINTS, 'value')}")
    return [value(index) for index in range(count + 1)]


def _decimal(value: float) -> float:
    """Round off the error of a sum: 0.1 + 2 * 0.1 is not 0.3."""
    return float(f"{value:.12g}")


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def space_of(space: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the texts of tensors in a space, e.g. `"128x512:bfloat16"`.

    Axes that are not lists (`range`, `Interval`, an Optuna distribution) are not changed.

    Raises:
        SpaceError: the space or an axis has no values.
        TypeError: the space is not a mapping.
    """
    if not isinstance(cast(Any, space), Mapping):
        raise TypeError(f"expected a dictionary of lists of values, got {one_line(space)}")
    axes: dict[str, Any] = {}
    for name, values in space.items():
        if isinstance(values, str):
            raise SpaceError(f"{name}: expected the values in a list, got {values!r}")
        if isinstance(values, Interval) or not isinstance(values, Iterable):
            axes[name] = values
            continue
        several = cast("Iterable[Any]", values)
        axes[name] = several if isinstance(several, range) else list(map(with_tensors, several))
        if not axes[name]:
            raise SpaceError(f"{name}: there are no values")
    if not axes:
        raise SpaceError("the space is empty: say which arguments have which values")
    return axes


def points_of(axes: Mapping[str, Any]) -> list[Point]:
    """Return the points of the grid of some axes; the last axis changes fastest.

    Raises:
        SpaceError: an axis is for samplers only, or there are more than `MOST_POINTS` points.
    """
    count = 1
    for name, values in axes.items():
        if isinstance(values, Interval):
            iter(values)
        if not isinstance(values, Sequence):
            raise SpaceError(f"{name}: {values!r} is for samplers; a grid takes a list of values")
        count *= len(cast("Sequence[Any]", values))
    if count > MOST_POINTS:
        raise SpaceError(f"the space has {counted(count, 'variant')}, more than {MOST_POINTS:,}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def value_text(value: Any) -> str:
    """Format a value for tables."""
    if isinstance(value, float):
        return f"{value:g}"
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else str(value)


def point_text(point: Mapping[str, Any]) -> str:
    """Format a point in one line: `tile_n=128, tile_k=64`."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in point.items())
