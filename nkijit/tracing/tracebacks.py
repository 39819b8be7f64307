"""Tracebacks and warnings of Python, without nkijit's own frames."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.tracing.locations import author_frame, frame_at, is_internal
from nkijit.tracing.tracer import active_tracer

_P = ParamSpec("_P")
_R = TypeVar("_R")


def without_own_frames(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function that users call: its exceptions have no frames of nkijit.

    Findings name the user's lines, so they need no frames below the call. Other exceptions lose the
    frames of nkijit that precede the last frame of the user's code.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if active_tracer() is not None:  # the call of the outermost kernel does it
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        # A bare `raise` does not add this frame again.
        except NkiValidationError as error:
            error.__traceback__ = None
            raise
        except Exception as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is None:  # the arguments do not match
                error.__traceback__ = None
            else:
                error.__traceback__ = _without_inner_frames(trace)
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


def _without_inner_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without nkijit's frames before the last frame of the user's code.

    Later frames are retained: they may show a defect of nkijit.
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
