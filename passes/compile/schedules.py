"""The choice between the author's instruction order and the compiler's."""

from __future__ import annotations

from enum import StrEnum


class Schedule(StrEnum):
    """Which order of instructions to use, with its tiles: the author's or the compiler's."""

    author = "author"
    compiler = "compiler"
