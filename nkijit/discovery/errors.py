"""Messages for exceptions that end a command: mistakes of the user, or internal errors."""

from __future__ import annotations

import traceback

from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Span

from nkijit.host.installed import is_library_file
from nkijit.ir.parser import InvalidOperation
from nkijit.passes.diagnostics.documents import Failure
from nkijit.passes.diagnostics.errors import with_notes
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.styled import printable
from nkijit.passes.interpret.records.errors import FoundError
from nkijit.tracing.tracebacks import is_defect


class UsageError(Exception):
    """An invalid request: of a command line, a configuration or an agent."""


def failure_of(error: BaseException) -> Failure:
    """Return the message for an exception, with a traceback of the user's files.

    The message of an unintended exception of a library keeps the exception's type and the last
    calls, and asks for a bug report.
    """
    message, where = _message_of(error)
    if is_defect(error):
        message = f"{message}\n{_DEFECT}\n{_library_frames(error)}"
    return Failure(printable(message.rstrip()), where)


_LONGEST_LINE = 1000
"""The maximum length of a line of IR that messages quote, in characters."""

_DEFECT = (
    "This is an internal error of nkijit. Please report it with the kernel and all of this text."
)


def _message_of(error: BaseException) -> tuple[str, tuple[Position, ...]]:
    if isinstance(error, (ParseError, InvalidOperation)):
        where = _start_of(error.span)
        text = str(error)
        if max(map(len, text.split("\n"))) > _LONGEST_LINE:
            text = f"{where}\n{error.msg}"
        return text, (where,)
    if isinstance(error, DiagnosticException):
        return f"error: {with_notes(error)}", ()
    if isinstance(error, FoundError):
        return str(error), error.finding.where
    if isinstance(error, SyntaxError):
        place = Position(error.filename or "", error.lineno or 1, error.offset or 1)
        return "".join(traceback.format_exception_only(error)), (place,) if error.filename else ()
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_library_file(frame.filename) and not frame.filename.startswith("<frozen")
    ]
    named = "".join(traceback.format_exception_only(error))
    if not frames:
        return named if is_defect(error) else f"error: {with_notes(error)}", ()
    shown = ["Traceback (most recent call last):\n", *traceback.format_list(frames), named]
    where = [Position(f.filename, f.lineno or 1, (f.colno or 0) + 1) for f in reversed(frames)]
    return "".join(shown), tuple(where)


def _library_frames(error: BaseException) -> str:
    """Format the last calls, including those in libraries, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return "".join(traceback.format_list(frames))


_FRAMES = 12


def _start_of(span: Span[str] | Span[bytes]) -> Position:
    place = span.get_location()
    return Position(place.file, place.line, place.col)
