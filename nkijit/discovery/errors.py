"""Messages for exceptions that end a command: mistakes of the user, or internal errors."""

from __future__ import annotations

import traceback
from types import FrameType

from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Span

from nkijit.host.installed import is_library_file
from nkijit.host.missing_files import missing_file
from nkijit.ir.parser import InvalidOperation
from nkijit.passes.diagnostics.documents import Failure
from nkijit.passes.diagnostics.errors import with_notes
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.styled import printable
from nkijit.passes.interpret.records.errors import FoundError
from nkijit.tracing.tracebacks import is_defect


class UsageError(Exception):
    """An invalid command line or configuration, or an invalid request of an agent."""


def failure_of(error: BaseException) -> Failure:
    """Return the message for an exception, with a traceback of the user's files.

    For an internal error of nkijit, the message also has the last calls inside libraries, and asks
    for a bug report.
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
    frames = _user_frames(error)
    if isinstance(error, FileNotFoundError) and error.filename and not frames:
        return f"error: {missing_file(error.filename)}", ()
    named = "".join(traceback.format_exception_only(error))
    if not frames:
        return named if is_defect(error) else f"error: {with_notes(error)}", ()
    shown = ["Traceback (most recent call last):\n", *traceback.format_list(frames), named]
    where = [Position(f.filename, f.lineno or 1, (f.colno or 0) + 1) for f in reversed(frames)]
    return "".join(shown), tuple(where)


def _user_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return those frames of an exception's traceback that execute the user's code."""
    shown = traceback.extract_tb(error.__traceback__)
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return [entry for entry, frame in zip(shown, frames, strict=True) if not _is_of_library(frame)]


def _is_of_library(frame: FrameType) -> bool:
    """Whether a frame executes code of a library, or code that a library has generated."""
    file = frame.f_code.co_filename
    if file == "<string>":
        file = str(frame.f_globals.get("__file__", file))
    return is_library_file(file) or file.startswith("<frozen")


def _library_frames(error: BaseException) -> str:
    """Format the last calls, including those in libraries, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return "".join(traceback.format_list(frames))


_FRAMES = 12


def _start_of(span: Span[str] | Span[bytes]) -> Position:
    place = span.get_location()
    return Position(place.file, place.line, place.col)
