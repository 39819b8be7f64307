"""Exit status of commands after signals and closed pipes, as shells expect it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec, cast

_P = ParamSpec("_P")


def ended_by_signals(function: Callable[_P, int | None]) -> Callable[_P, int]:
    """Wrap a script's entry point so that it returns the exit status that shells expect.

    The status is 141 if the reader of a pipe closes it, 143 after SIGTERM, and 129 after SIGHUP
    (the terminal was closed); in these cases, nothing is printed. After an interrupt, the status is
    130, and one line on standard error names the interrupted line of the user's code.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> int:
        stdout = cast(Any, sys.stdout)
        if hasattr(stdout, "reconfigure"):
            # Names of files may have characters that the terminal lacks, or bytes that are no text.
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
            interrupts = [cause for cause in causes if isinstance(cause, KeyboardInterrupt)]
            if interrupts:
                print(f"interrupted{_place_of(interrupts[-1])}", file=sys.stderr)
                return _status_of(signal.SIGINT)
            raise
        return status or 0

    return call


_SIGPIPE = 13
"""SIGPIPE by number: Windows lacks the name."""


def _is_broken_pipe(error: BaseException) -> bool:
    """Whether a write failed because the reader closed the pipe.

    Windows reports EINVAL, without the name of a file.
    """
    if isinstance(error, OSError) and sys.platform == "win32" and error.filename is None:
        return error.errno in (errno.EPIPE, errno.EINVAL)
    return isinstance(error, BrokenPipeError)


def _status_of(number: int) -> int:
    """Return the exit status that shells give a process ended by a signal."""
    return 128 + number


def _place_of(error: BaseException) -> str:
    """Return the user's line that raised an exception, for a message; empty without such a line."""
    from nkijit.host.installed import is_library_code

    lines = [
        f" at {frame.f_code.co_filename}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") != "__main__"  # the command itself
        and not is_library_code(frame.f_code.co_filename)
    ]
    return lines[-1] if lines else ""


def _unwind_on(number: signal.Signals) -> None:
    """Raise SystemExit on a signal, unless the parent process has set it to be ignored."""

    def end(received: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
        raise SystemExit(_status_of(number))

    if signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, end)


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception and the exceptions in its `__context__` chain."""
    found = [error]
    while (before := found[-1].__context__) is not None and before not in found:
        found.append(before)
    return found


def _close_broken_streams() -> None:
    """Redirect streams with a closed reader to the null device.

    Python would print an error when it flushes them at exit.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
