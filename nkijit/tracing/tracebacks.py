"""Tracebacks and warnings of Python, without nkijit's own frames."""

from __future__ import annotations

import ast
import dis
import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import ParamSpec, TypeVar

from xdsl.utils.exceptions import ArgSpecParseError

from nkijit.dialects.rule_texts.python import PYTHON_ERROR
from nkijit.host.dynamo import is_in_dynamo
from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.places import Position, Span, positions
from nkijit.tracing.locations import (
    author_frame,
    evaluated,
    frame_at,
    is_internal,
    location_at,
    span_at,
)
from nkijit.tracing.tracer import active_tracer

_P = ParamSpec("_P")
_R = TypeVar("_R")


def without_own_frames(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function that users call: its exceptions have no frames of nkijit.

    Findings name the user's lines, so they need no frames below the call, except for exceptions of
    the user's code, which debuggers show at their line. Defects of nkijit keep the frames after
    the last frame of the user's code.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        # Dynamo reads this code, and cannot read context variables.
        if is_in_dynamo():
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        # A bare `raise` does not add this frame again.
        except NkiValidationError as error:
            if active_tracer() is not None:  # the outermost kernel's call does it
                raise
            own = any(found.rule.category == PYTHON_ERROR.category for found in error.diagnostics)
            error.__traceback__ = _without_inner_frames(error) if own else None
            raise
        except Exception as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is None:  # the arguments do not match
                error.__traceback__ = None
            elif active_tracer() is None:  # the outermost kernel's call does it
                error.__traceback__ = _without_inner_frames(error)
            raise

    return call


def warn_at_call(text: str, category: type[Warning]) -> None:
    """Issue a warning at the user's call."""
    frame = author_frame()
    warnings.warn(text, category, stacklevel=1 if frame is None else _depth_of(frame))


def _depth_of(frame: FrameType) -> int:
    """Return the `stacklevel` of an outer frame, for the caller to pass to `warnings.warn`."""
    at, depth = frame_at(1), 1
    while at is not frame and at.f_back is not None:
        at, depth = at.f_back, depth + 1
    return depth


def _without_inner_frames(error: BaseException) -> TracebackType | None:
    """Return the traceback of an exception without nkijit's frames.

    For a defect of nkijit, the frames after the last frame of the user's code are retained.
    """
    entries = entries_of(error)
    last = max((i for i, entry in enumerate(entries) if not _is_of_library(entry)), default=-1)
    later = (i for i in range(last + 1, len(entries)) if _is_own(entries[i]))
    end = next(later, len(entries))
    kept = [entry for entry in entries[:end] if not _is_own(entry)]
    if is_defect(error):
        kept += entries[end:]
    else:
        vars(error)[_INTENDED] = True
    trace: TracebackType | None = None
    for entry in reversed(kept):
        trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace


def entries_of(error: BaseException) -> list[TracebackType]:
    """Return the entries of the traceback of an exception, the outermost first."""
    entries: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    return entries


_INTENDED = "_nkijit_intended"
"""An attribute that marks exceptions without their last frames as no defects."""


def _is_of_library(entry: TracebackType) -> bool:
    return is_library_file(entry.tb_frame.f_code.co_filename)


def _is_own(entry: TracebackType) -> bool:
    return is_internal(entry.tb_frame.f_code)


_DEEP = 50
"""The number of the user's frames above which a RecursionError is about the user's functions."""


def is_defect(error: BaseException) -> bool:
    """Return whether an exception is a defect of library code.

    An exception is a defect if an expression of a library raised it, not a `raise` statement. A
    failed `assert` of a library is a defect as well. Errors of the operating system (files,
    memory) and modules that are not installed are not defects, and neither is recursion in the
    user's code.
    """
    if isinstance(error, (OSError, MemoryError, ImportError, SyntaxError, ArgSpecParseError)):
        return False
    if _INTENDED in vars(error):
        return False
    entries = entries_of(error)
    if not entries or not _is_of_library(entries[-1]):
        return False
    if (
        isinstance(error, RecursionError)
        and sum(map(_is_of_library, entries)) < len(entries) - _DEEP
    ):
        return False
    operation = dis.opname[entries[-1].tb_frame.f_code.co_code[entries[-1].tb_lasti]]
    return operation != "RAISE_VARARGS" or isinstance(error, AssertionError)


# ------------------------------------------------------------------ exceptions in kernels


@dataclass(frozen=True, slots=True)
class Raised:
    """The lines of a kernel that led to an exception."""

    entries: Sequence[TracebackType]
    """The entries of the user's code, from the innermost to the function that nkijit called."""
    inner: Sequence[TracebackType]
    """Entries of libraries after those of the user's code, the outermost first."""

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Return the kernel's lines that led to an exception.

        Must be called where nkijit catches the exception. If an installed package contains all of
        the kernel's code, the entry of the kernel's function counts as the user's.
        """
        entries = entries_of(error)
        first = next((i for i, e in enumerate(entries) if not _is_own(e)), len(entries))
        entries = entries[first:]
        own = [i for i, entry in enumerate(entries) if not _is_of_library(entry)]
        end = own[-1] + 1 if own else min(1, len(entries))
        start = max((i + 1 for i in range(end) if _is_own(entries[i])), default=0)
        return cls(entries[start:end][::-1], entries[end:])

    @property
    def is_direct(self) -> bool:
        """Whether the user's innermost line, or a C function called there, raised the exception."""
        return not self.inner

    @property
    def by_nkijit(self) -> bool:
        """Whether a function of nkijit, or a function that it called, raised the exception."""
        return any(map(_is_own, self.inner))

    @property
    def code(self) -> CodeType:
        """The code of the innermost function."""
        return self.entries[0].tb_frame.f_code

    @property
    def frame(self) -> FrameType:
        """The frame of the innermost function."""
        return self.entries[0].tb_frame

    @property
    def node(self) -> ast.AST | None:
        """The syntax node that the innermost line evaluated, if the source is known."""
        return evaluated(self.code, self.entries[0].tb_lasti)

    @property
    def where(self) -> tuple[Position, ...]:
        """The positions of the lines, the innermost first, without repetitions by a recursion."""
        return tuple(dict.fromkeys(place for entry in self.entries for place in places_of(entry)))

    @property
    def marked(self) -> tuple[Span, ...]:
        """The span of the expression that the innermost line evaluated; empty if not known."""
        return marked_in(self.entries[0])


def places_of(entry: TracebackType) -> list[Position]:
    """Return the position of the expression that an entry of a traceback evaluated."""
    return positions(location_at(entry.tb_frame.f_code, entry.tb_lasti))


def marked_in(entry: TracebackType) -> tuple[Span, ...]:
    """Return the span of the expression that an entry evaluated; empty if it is not known."""
    span = span_at(entry.tb_frame.f_code, entry.tb_lasti)
    return () if span is None else (span,)
