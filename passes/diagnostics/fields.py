"""Text forms of result dataclasses: one line for `repr`, a line for each field for `str`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from numbers import Integral
from typing import Any, cast

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.diagnostics.tables import aligned

LONGEST = 110
"""The approximate maximum length of a `repr`, in characters."""
MOST_ITEMS = 20
"""The largest number of a field's items that `str` prints."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class ShownFields(ShownAsText):
    """Base class of dataclasses (declared with `repr=False`) that are shown by their fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        parts: list[str] = []
        for name, value in _fields(self):
            text = _in_short(name, value)
            if text and sum(map(len, parts)) + 2 * len(parts) + len(text) > LONGEST:
                parts.append("...")
                break
            parts += [text] * bool(text)
        return f"<{_title(self)}: {', '.join(parts)}>" if parts else f"<{_title(self)}>"

    def __str__(self) -> str:
        rows, lists = list[tuple[str, str]](), list[str]()
        for name, value in _fields(self):
            items = _items(value)
            if items is None:
                rows.append((name, _text(value)))
            elif len(", ".join(items)) <= LONGEST // 2:
                rows.append((name, ", ".join(items)))
            else:
                more = len(items) - MOST_ITEMS
                lists += [f"  {name}", *(f"    {text}" for text in items[:MOST_ITEMS])]
                lists += [f"    ... and {more:,} more"] * (more > 0)
        return "\n".join([_title(self), *_table(rows), *lists])


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    shown = [("", ""), *(row for row in rows if row[1])]
    return aligned(shown, lambda _place, _name: False, indent="  ")[1:] if len(shown) > 1 else []


def _title(shown: object) -> str:
    """Return the words of the class name, e.g. `queue use`."""
    return _WORDS.sub(" ", type(shown).__name__).lower()


def _fields(shown: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(shown):
        yield field.name.replace("_", " "), getattr(shown, field.name)


def _text(value: object) -> str:
    """Return a short text for a value; "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, Position):
        return value.line_text
    if isinstance(value, Operation):
        return value.name
    if _is_shape(value):
        return "x".join(map(str, cast(tuple[int, ...], value)))
    return value if isinstance(value, str) else repr(value)


def _is_shape(value: object) -> bool:
    entries = cast(tuple[object, ...], value) if type(value) is tuple else ()
    return bool(entries) and all(type(entry) is int for entry in entries)


def _items(value: object) -> list[str] | None:
    """Return the texts of a field's items; None if the field is not a collection."""
    if isinstance(value, Mapping):
        return [f"{_text(k)}: {_text(v)}" for k, v in cast(Mapping[Any, Any], value).items()]
    # A named tuple is a single item.
    is_some = isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields")  # pyright: ignore[reportUnknownArgumentType]
    if not is_some or _is_shape(value):  # pyright: ignore[reportUnknownArgumentType]
        return None
    return [_text(item) for item in cast(Collection[Any], value)]


def _in_short(name: str, value: object) -> str:
    """Return the part of a `repr` that shows a field; "" if it would be long."""
    if isinstance(value, bool):
        return name if value else ""
    items = _items(value)
    if items is not None:
        count = len(items)
        return f"{count:,} {name if count != 1 else name.removesuffix('s')}" if count else ""
    if value is None or isinstance(value, ShownFields):
        return ""
    text = _text(value)
    return f"{name} {text}" if text and len(text) <= LONGEST // 2 and "\n" not in text else ""
