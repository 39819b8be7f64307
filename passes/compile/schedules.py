"""The choice between the author's instruction order and the compiler's."""

from __future__ import annotations

from enum import StrEnum


class Schedule(StrEnum):
    """Whether to use the instruction order and tiles of the author, or those of the compiler."""

    author = "author"
    compiler = "compiler"
