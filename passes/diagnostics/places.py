"""Places in the author's source."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, CallSiteLoc, FileLineColLoc, LocationAttr
from xdsl.ir import Operation

from nkijit.passes.diagnostics.source_text import is_parsed_text, source_line

_CALLEE = re.compile(r"[\w.]*")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}:{self.column}"

    def source_line(self) -> str:
        """The text of the line, empty when it is not shown."""
        return source_line(self.file, self.line)

    @property
    def width(self) -> int:
        """Characters of the name that is called there; 1 where nothing is known."""
        match = _CALLEE.match(self.source_line(), self.column - 1)
        return max(1, 0 if match is None else match.end() - match.start())


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a source file, from a place to before an end; both count from 1."""

    start: Position
    end_line: int
    end_column: int

    def columns(self, line: int) -> tuple[int, int]:
        """The first and the last column of it on a line, without the spaces around."""
        text = source_line(self.start.file, line)
        first = self.start.column if line == self.start.line else 1
        last = self.end_column - 1 if line == self.end_line else len(text)
        piece = text[first - 1 : last]
        return first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip()) - 1


def shown_path(file: str) -> str:
    """A path below the current folder is shown relative to it."""
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except ValueError:  # it is on another drive
        return file
    return file if relative.startswith(os.pardir) else relative


def _is_of_text(op: Operation) -> bool:
    location = op.location
    return isinstance(location, FileLineColLoc) and is_parsed_text(location.filename.data)


_Op = TypeVar("_Op", bound=Operation)


def without_places_of_text(op: _Op) -> _Op:
    """An operation whose insides have the author's locations only, not those of a `.mlir` text.

    The operation itself where that is so already, else a copy.
    """
    if not any(map(_is_of_text, op.walk())):
        return op
    copy = op.clone()
    for inner in filter(_is_of_text, copy.walk()):
        inner.location = UNKNOWN_LOC
    return copy


def positions(location: LocationAttr) -> list[Position]:
    """The places of a location, innermost call first."""
    if isinstance(location, FileLineColLoc):
        # MLIR writes 0 where a line or a column is not known.
        column = max(1, location.column.data)
        return [Position(location.filename.data, location.line.data, column)]
    if isinstance(location, CallSiteLoc):
        callee, caller = cast(LocationAttr, location.callee), cast(LocationAttr, location.caller)
        return [*positions(callee), *positions(caller)]
    return []
