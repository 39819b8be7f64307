"""Positions and spans in the source."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, CallSiteLoc, FileLineColLoc, LocationAttr
from xdsl.ir import Operation

from nkijit.passes.diagnostics.source_text import is_parsed_text, source_line

_CALLEE = re.compile(r"[\w.]*")


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a source file. Lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        cell = cell_of(self.file)
        return self.in_one_word if not cell else f"{cell}, line {self.line}"

    @property
    def in_one_word(self) -> str:
        """The position as `file:line:column`. For a notebook cell, `file` is Python's cell name."""
        return f"{shown_path(self.file)}:{self.line}:{self.column}"

    @property
    def line_text(self) -> str:
        """The line in readable form: `kernel.py:14`, `Cell In[12], line 6`."""
        return line_text(shown_path(self.file), self.line)

    @property
    def brief(self) -> str:
        """The readable form of the line, without the folder of the file."""
        return line_text(self.file.rpartition("/")[2], self.line, self.file)

    def source_line(self) -> str:
        """Return the text of the line; "" if it cannot be shown."""
        return source_line(self.file, self.line)

    @property
    def width(self) -> int:
        """The length of the name that is called at the position; 1 if no name is called."""
        match = _CALLEE.match(self.source_line(), self.column - 1)
        return max(1, 0 if match is None else match.end() - match.start())


@dataclass(frozen=True, slots=True)
class Span:
    """A range in a source file, with an exclusive end. Lines and columns count from 1."""

    start: Position
    end_line: int
    end_column: int

    def __repr__(self) -> str:
        return f"<span {self.start} to {self.end_line}:{self.end_column}>"

    def columns(self, line: int) -> tuple[int, int]:
        """Return the first and last column of the span on a line, without outer spaces."""
        text = source_line(self.start.file, line)
        first = self.start.column if line == self.start.line else 1
        last = self.end_column - 1 if line == self.end_line else len(text)
        piece = text[first - 1 : last]
        return first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip()) - 1


def line_text(shown: str, line: int, file: str = "") -> str:
    """Return the readable form of a line.

    Args:
        shown: the name to show for the file.
        line: the line number.
        file: Python's name of the file, if it differs from `shown`.
    """
    cell = cell_of(file or shown)
    return f"{cell}, line {line}" if cell else f"{shown}:{line}"


def cell_of(file: str) -> str:
    """Return the name of a notebook cell, e.g. `Cell In[12]`; "" if `file` is not a cell."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    known = None if named is None else named(file)
    return "" if known is None else " ".join(known)


def shown_path(file: str) -> str:
    """Return the path relative to the current folder if the file is below it."""
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except ValueError:  # on another drive
        return file
    return file if relative.startswith(os.pardir) else relative


def _is_of_text(op: Operation) -> bool:
    location = op.location
    return isinstance(location, FileLineColLoc) and is_parsed_text(location.filename.data)


_Op = TypeVar("_Op", bound=Operation)


def without_places_of_text(op: _Op) -> _Op:
    """Remove locations that only refer to the `.mlir` text itself, not to a kernel's source.

    Returns the same operation if there are no such locations, and otherwise a changed copy.
    """
    if not any(map(_is_of_text, op.walk())):
        return op
    copy = op.clone()
    for inner in filter(_is_of_text, copy.walk()):
        inner.location = UNKNOWN_LOC
    return copy


def positions(location: LocationAttr) -> list[Position]:
    """Return the positions of a location, innermost call first."""
    if isinstance(location, FileLineColLoc):
        # MLIR writes 0 for an unknown line or column.
        column = max(1, location.column.data)
        return [Position(location.filename.data, location.line.data, column)]
    if isinstance(location, CallSiteLoc):
        callee, caller = cast(LocationAttr, location.callee), cast(LocationAttr, location.caller)
        return [*positions(callee), *positions(caller)]
    return []
