"""Functions in processes of their own: one that hangs, crashes or eats memory ends only its own.

A server of forks has imported nkijit once, so a process begins with its function at once, and knows
nothing of what others have imported or changed.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

_GRACE = 2.0
"""Seconds that a process has for saying where it was when its time was over."""
_MIB = 1 << 20

_FORKS = get_context("forkserver")


class EndedError(Exception):
    """A process has ended before its time; the message says how."""


class OutOfTimeError(Exception):
    """A process was still at work at the end of its time, and was ended."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"still running after {self.seconds:g} s; it was ended"


class OutOfTime(BaseException):
    """A function has taken too long. Not an Exception: authors catch these."""


@dataclass(frozen=True)
class Limits:
    """What a function may use."""

    seconds: float = 30.0
    mebibytes: int = 8192
    """Of memory, beyond what a process has that has done nothing."""


class Fork:
    """A function that is going on in a process of its own, and tells what it knows as it goes.

    Args:
        function: a generator function of some module. Where its time is over OutOfTime is raised,
            and it may still tell something.
        arguments: what it is called with.
        limits: what it may use.
    """

    def __init__(
        self, function: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], limits: Limits
    ):
        self._limits = limits
        self._is_over = False
        self._connection, theirs = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_work, args=(theirs, function, arguments, limits))
        self._process.start()
        theirs.close()
        self._until = time.monotonic() + limits.seconds + _GRACE

    def next(self) -> tuple[Any] | None:
        """What it tells next, waiting for it; None after the end.

        Raises EndedError when the process dies, OutOfTimeError when its time is over and it does
        not say so itself.
        """
        if self._is_over:
            return None
        try:
            if not self._connection.poll(max(0.0, self._until - time.monotonic())):
                self._end()
                raise OutOfTimeError(self._limits.seconds)
            found: tuple[Any] | None = self._connection.recv()
        except (EOFError, OSError):
            self._end()
            if self._process.exitcode == -signal.SIGALRM:
                raise OutOfTimeError(self._limits.seconds) from None
            raise EndedError(ending_of(self._process.exitcode)) from None
        if found is None:
            self._end()
        return found

    def kill(self) -> None:
        """End the process, with all that it has started; `next` is at its end then."""
        pid = self._process.pid
        if self._is_over or pid is None:
            return
        # It leads a group of its own since it began to work.
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)

    def _end(self) -> None:
        self.kill()
        self._is_over = True
        self._process.join()
        self._connection.close()


def prepare(modules: Sequence[str]) -> None:
    """Say what functions need, so that the server of forks imports it before the first fork."""
    # The main module is the command's, and is imported by each process unless it is there already.
    _FORKS.set_forkserver_preload([__name__, *modules, "nkijit.cli"])


def start() -> None:
    """Begin to import it, so that the first fork finds it."""
    from multiprocessing.forkserver import ensure_running

    ensure_running()


def ending_of(code: int | None) -> str:
    """How a process has ended."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"


def _work(
    connection: Connection,
    function: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    limits: Limits,
) -> None:
    """What the process does."""
    os.setsid()
    _leave_streams()
    _limit(limits)
    for found in function(*arguments):
        connection.send((found,))
    connection.send(None)
    connection.close()
    # Threads of the author's would keep it alive.
    os._exit(0)


def _leave_streams() -> None:
    """What a file reads and prints is not for those who speak a protocol there."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _limit(limits: Limits) -> None:
    """Bound time and memory."""

    def over(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        raise OutOfTime

    signal.signal(signal.SIGALRM, over)
    # Again and again: whoever catches the first one is ended by the second.
    signal.setitimer(signal.ITIMER_REAL, limits.seconds, _GRACE)
    with suppress(ValueError, OSError):  # the machine allows less, or cannot be asked
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = used + limits.mebibytes * _MIB
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
