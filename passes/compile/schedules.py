"""Who decides the order of instructions."""

from __future__ import annotations

from enum import StrEnum


class Schedule(StrEnum):
    """Whose order of instructions, and whose tiles, a kernel is lowered with."""

    author = "author"
    compiler = "compiler"
