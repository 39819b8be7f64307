"""The choice between the author's instruction order and the compiler's."""

from __future__ import annotations

from enum import StrEnum


class Schedule(StrEnum):
    """The order, and the tiles, with which a kernel is lowered: the author's or the compiler's."""

    author = "author"
    compiler = "compiler"
