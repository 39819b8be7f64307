"""The choice between the author's instruction order and the compiler's."""

from __future__ import annotations

from enum import StrEnum


class Schedule(StrEnum):
    """The author's or the compiler's order of instructions, with the tiles that belong to it."""

    author = "author"
    compiler = "compiler"
