"""How commands end: as the shell expects, when nobody reads what they print or they are stopped."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec, cast

_P = ParamSpec("_P")


def ended_by_signals(function: Callable[_P, int | None]) -> Callable[_P, int]:
    """What a script calls, with the exit status that the shell expects.

    Nothing is printed when a pipe is closed that the command writes to (status 141), one line when
    it is interrupted (130), and nothing when it is told to end (143, or 129 by a terminal that is
    closed).
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> int:
        stdout = cast(Any, sys.stdout)
        if hasattr(stdout, "reconfigure"):
            # A file's name may have what the terminal cannot show, or what is no text at all.
            stdout.reconfigure(errors="backslashreplace")
        _unwind_on(signal.SIGTERM)
        if sys.platform != "win32":
            _unwind_on(signal.SIGHUP)
        try:
            try:
                status = function(*args, **kwargs)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        except BaseException as error:
            causes = _causes(error)
            if any(map(_is_broken_pipe, causes)):
                _close_broken_streams()
                return _status_of(_SIGPIPE)
            if any(isinstance(cause, KeyboardInterrupt) for cause in causes):
                print("interrupted", file=sys.stderr)
                return _status_of(signal.SIGINT)
            raise
        return status or 0

    return call


_SIGPIPE = 13
"""The number of the signal, which Windows does not have."""


def _is_broken_pipe(error: BaseException) -> bool:
    """Whether nobody reads what was written; Windows calls that an invalid argument, of no file."""
    if isinstance(error, OSError) and sys.platform == "win32" and error.filename is None:
        return error.errno in (errno.EPIPE, errno.EINVAL)
    return isinstance(error, BrokenPipeError)


def _status_of(number: int) -> int:
    """The exit status of a process that a signal has ended, as shells say it."""
    return 128 + number


def _unwind_on(number: signal.Signals) -> None:
    """Take a signal as an exception, unless whoever started the process has it ignored."""

    def end(received: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # for those who cannot wait
        raise SystemExit(_status_of(number))

    if signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, end)


def _causes(error: BaseException) -> list[BaseException]:
    """An exception and those that it was raised in place of."""
    found = [error]
    while (before := found[-1].__context__) is not None and before not in found:
        found.append(before)
    return found


def _close_broken_streams() -> None:
    """Have what is left in the streams that nobody reads go nowhere: Python would complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
