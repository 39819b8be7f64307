"""What Python shows of an exception or a warning: the author's frames, not those in between."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.tracing.locations import author_frame, frame_at, is_internal

_P = ParamSpec("_P")
_R = TypeVar("_R")


def called_by_authors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """What authors call: its exceptions come without nkijit's own frames.

    Findings name the author's lines, so nothing below the call is shown. Of other exceptions,
    frames between the call and the author's code in the kernel are left out.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        # A bare `raise` does not add this frame again.
        except NkiValidationError as error:
            error.__traceback__ = None
            raise
        except Exception as error:
            error.__traceback__ = _to_the_author(error.__traceback__)
            raise

    return call


def warn_author(text: str, category: type[Warning]) -> None:
    """Issue a warning at the author's call."""
    frame = author_frame()
    warnings.warn(text, category, stacklevel=1 if frame is None else _depth_of(frame))


def _depth_of(frame: FrameType) -> int:
    """The `stacklevel` that a caller of `warnings.warn` gives for a frame around it."""
    at, depth = frame_at(1), 1
    while at is not frame and at.f_back is not None:
        at, depth = at.f_back, depth + 1
    return depth


def _to_the_author(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without nkijit's frames before the author's last one.

    What comes after it stays: it may be a defect of nkijit.
    """
    entries: list[TracebackType] = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    last = max((i for i, file in enumerate(files) if not is_library_file(file)), default=0)
    for index, entry in reversed(list(enumerate(entries))):
        if index >= last or not is_internal(entry.tb_frame.f_code):
            trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace
