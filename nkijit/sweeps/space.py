"""The space of a sweep: values for some of a kernel's arguments, and the grid that they span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

from nkijit.argument_text import ArgumentTextError, argument_of, with_tensors

Point = dict[str, Any]
"""A value for each argument that is swept."""

MOST_POINTS = 1_000_000
_RANGE = re.compile(r"\s*(-?\d+):(-?\d+)(?::(-?\d+))?\s*")


class SpaceError(ValueError):
    """A space that has no variants, or a text that is no space."""


def axis_of(text: str) -> tuple[str, Sequence[Any]]:
    """An axis as `--space` takes it: a name, and values or a range.

    Values are what `-a` takes, with commas between them; a range is Python's `start:stop:step`.
    Raises SpaceError for other texts. Example: `axis_of("tile=128,256")` is
    `("tile", [128, 256])`, and `axis_of("k=64:193:64")` is `("k", range(64, 193, 64))`.
    """
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise SpaceError(f"{text}: expected NAME=VALUES, e.g. tile_n=128,256 or tile_k=64:513:64")
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


def points_of(space: Mapping[str, Iterable[Any]]) -> list[Point]:
    """The points of a grid; the last axis changes fastest.

    Tensors may be texts, `"128x512:bfloat16"`. Raises SpaceError for axes without values, and for
    more points than anybody looks at.
    """
    axes: dict[str, list[Any]] = {}
    count = 1
    for name, values in space.items():
        if isinstance(values, str):
            raise SpaceError(f"{name}: expected the values in a list, got {values!r}")
        axes[name] = [with_tensors(value) for value in values]
        if not axes[name]:
            raise SpaceError(f"{name}: there are no values")
        count *= len(axes[name])
    if not axes:
        raise SpaceError("the space is empty: say which arguments have which values")
    if count > MOST_POINTS:
        raise SpaceError(f"the space has {count:,} variants, more than {MOST_POINTS:,}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def value_text(value: Any) -> str:
    """A value of a point as tables show it."""
    if isinstance(value, float):
        return f"{value:g}"
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else str(value)


def point_text(point: Mapping[str, Any]) -> str:
    """A point in one line: `tile_n=128, tile_k=64`."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in point.items())
