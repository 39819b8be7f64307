"""Conversion of dataclasses to JSON values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, cast

from nkijit.passes.diagnostics.places import Position


def _one_word(place: Position) -> str:
    return place.in_one_word


def plain(value: object, place: Callable[[Position], object] = _one_word) -> Any:
    """Convert a value to JSON values, without the fields of dataclasses that have `repr=False`.

    `place` converts positions, by default to `file:line:column`.
    """
    if isinstance(value, Position):
        return place(value)
    if is_dataclass(value):
        shown = [f for f in fields(value) if f.repr]
        return {f.name: plain(getattr(value, f.name), place) for f in shown}
    if isinstance(value, tuple):
        return [plain(item, place) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Enum):
        return value.value
    return round(value, 6) if isinstance(value, float) else value
