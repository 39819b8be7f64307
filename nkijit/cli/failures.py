"""Exceptions that end a command, shown without the frames of nkijit."""

from __future__ import annotations

import traceback

from xdsl.utils.exceptions import DiagnosticException, ParseError

from nkijit.library import is_library_file
from nkijit.passes.diagnostics.documents import Failure
from nkijit.passes.diagnostics.errors import with_notes
from nkijit.passes.diagnostics.places import Position


class UsageError(Exception):
    """The command line asks for something that does not exist."""


def failure_of(error: Exception) -> Failure:
    """An exception as a message for the user, with the author's lines."""
    if isinstance(error, ParseError):
        return Failure(str(error).rstrip(), (_start_of(error),))
    if isinstance(error, DiagnosticException):
        return Failure(f"error: {with_notes(error)}")
    if isinstance(error, SyntaxError):
        place = Position(error.filename or "", error.lineno or 1, error.offset or 1)
        return Failure(
            "".join(traceback.format_exception_only(error)).rstrip(),
            (place,) if error.filename else (),
        )
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_library_file(frame.filename) and not frame.filename.startswith("<frozen")
    ]
    if not frames:
        return Failure(f"error: {error}")
    shown = ["Traceback (most recent call last):\n", *traceback.format_list(frames)]
    where = [Position(f.filename, f.lineno or 1, (f.colno or 0) + 1) for f in reversed(frames)]
    text = "".join([*shown, *traceback.format_exception_only(error)])
    return Failure(text.rstrip(), tuple(where))


def _start_of(error: ParseError) -> Position:
    before = error.span.input.content[: error.span.start]
    text = before.decode() if isinstance(before, bytes) else before
    return Position(error.span.input.name, text.count("\n") + 1, len(text) - text.rfind("\n"))
