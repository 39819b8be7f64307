"""Conversion of a sweep's results to JSON values and back, without loss, for its storage.

Source positions are complete, and floats are not rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from nkijit.passes.diagnostics.places import Position
from nkijit.sweeps.costs import Cost, CriticalLine, Finding, Peak, Time


def data_of(value: Any) -> Any:
    """Convert a result, or a part of one, to JSON values."""
    if isinstance(value, tuple):
        return [data_of(part) for part in cast("tuple[Any, ...]", value)]
    names = getattr(value, "__dataclass_fields__", None)
    return value if names is None else {name: data_of(getattr(value, name)) for name in names}


def cost_of(data: Mapping[str, Any]) -> Cost:
    """Return the cost that `data_of` converted."""
    parts = dict(data)
    for name, kind in (("time", Time), ("sbuf", Peak), ("psum", Peak)):
        if parts[name] is not None:
            parts[name] = kind(**parts[name])
    parts["lines"] = tuple(map(_line, parts["lines"]))
    parts["findings"] = tuple(map(_finding, parts["findings"]))
    return Cost(**parts)


def _line(data: Mapping[str, Any]) -> CriticalLine:
    parts: dict[str, Any] = dict(data)
    parts["place"], parts["instructions"] = _place(data), tuple(data["instructions"])
    return CriticalLine(**parts)


def _finding(data: Mapping[str, Any]) -> Finding:
    parts: dict[str, Any] = dict(data)
    parts["place"] = _place(data)
    return Finding(**parts)


def _place(data: Mapping[str, Any]) -> Position | None:
    return None if data["place"] is None else Position(**data["place"])
