"""Data as values of JSON, and tables of text."""

from __future__ import annotations

from dataclasses import dataclass, field

from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.tables import aligned


@dataclass(frozen=True)
class Figure:
    """Fields that are shown, and one that is not."""

    name: str
    share: float
    places: tuple[Position, ...]
    source: object = field(repr=False, default=None)


FIGURE = Figure("busy", 0.12345678, (Position("kernel.py", 3, 5),), object())


def test_places_are_words_and_hidden_fields_are_left_out() -> None:
    assert plain(FIGURE) == {"name": "busy", "share": 0.123457, "places": ["kernel.py:3:5"]}


def test_the_caller_formats_places() -> None:
    assert plain(FIGURE, lambda place: place.line)["places"] == [3]


def test_tables_leave_out_empty_columns_and_align_numbers() -> None:
    rows = [("tile", "bytes", "note"), ("a", "16", ""), ("weights", "2", "")]
    assert aligned(rows, lambda _, name: name == "bytes", indent="  ") == [
        "  tile     bytes",
        "  a           16",
        "  weights      2",
    ]
