"""Analyses in processes of their own: a file that hangs, crashes or eats memory ends only its own.

A process knows nothing of earlier states of the file or of the modules beside it. `system`
starts, bounds and ends processes: `forks.py` where there are any, else `spawns.py`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from nkijit.lsp.channels import Channel
from nkijit.lsp.facts import Analysis, Problem
from nkijit.passes.diagnostics.places import Position, Span

if sys.platform == "win32":
    from nkijit.lsp import spawns as system
else:
    from nkijit.lsp import forks as system

_GRACE = 2.0
"""Seconds that a process has for saying where it was when its time was over."""
_IMPORTS = 60.0
"""Seconds that a process has for getting ready, before its time begins."""
_MIB = 1 << 20


class _Sign(Enum):
    """What a process sends beside what it finds."""

    BEGUN = auto()
    """It is ready."""


class OutOfTime(BaseException):
    """The analysis has taken too long. Not an Exception: authors catch these."""


@dataclass(frozen=True)
class Limits:
    """What an analysis may use."""

    seconds: float = 30.0
    mebibytes: int = 8192
    """Of memory, beyond what a process has that has done nothing."""


class Run:
    """An analysis that is going on in a process of its own."""

    def __init__(self, path: str, text: str, folder: Path, limits: Limits):
        self._path, self._limits = path, limits
        self._last = Analysis(complete=False)
        self._is_over = False
        self._process, self._connection = system.start(
            _work, system.begin, path, text, folder, limits
        )
        self._until = time.monotonic() + _IMPORTS

    def next(self) -> Analysis | None:
        """What is known next, waiting for it; None after the end.

        A process that dies has its end told as a problem, beside what it has said before.
        """
        if self._is_over:
            return None
        try:
            found = self._received()
            while found is _Sign.BEGUN:
                self._until = time.monotonic() + self._limits.seconds + _GRACE
                found = self._received()
            if found is None:
                self._end()
                return self._ended(f"still running after {self._limits.seconds:g} s; it was ended")
        except (EOFError, OSError):
            self._end()
            return self._ended(f"the process that ran this file {_ending(self._process.exitcode)}")
        self._last = found
        if found.complete:
            self._end()
        return found

    def _received(self) -> Analysis | _Sign | None:
        """What the process sends next; None when its time is over."""
        wait = max(0.0, self._until - time.monotonic())
        return self._connection.recv() if self._connection.poll(wait) else None

    def kill(self) -> None:
        """End the process; `next` is at its end then."""
        if not self._is_over:
            system.end(self._process)

    def _end(self) -> None:
        self.kill()
        self._is_over = True
        self._process.join()
        self._connection.close()

    def _ended(self, message: str) -> Analysis:
        span = Span(Position(self._path, 1, 1), 1, 2)
        problem = Problem(span, "error", message)
        return self._last.ended(problem, self._limits.seconds)


def prepare() -> None:
    """Begin to import what analyses need, so that the first one finds it."""
    system.prepare()


def missing() -> str | None:
    """What analyses on this system lack, for the author to know."""
    return system.MISSING


def _ending(code: int | None) -> str:
    """How a process has ended."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"


def _work(
    connection: Channel,
    begin: Callable[[float, float, int, Callable[[], None]], None],
    path: str,
    text: str,
    folder: Path,
    limits: Limits,
) -> None:
    """What the process does."""
    # The processes have it; the server of the editor does without.
    from nkijit.lsp.analysis import analyse, out_of_time

    _leave_streams()
    begin(limits.seconds, _GRACE, limits.mebibytes * _MIB, _over)
    connection.send(_Sign.BEGUN)
    sys.argv = [path]
    last = Analysis(complete=False)
    try:
        for found in analyse(path, text, folder):
            last = found
            connection.send(found)
    except OutOfTime as error:
        problem = out_of_time(path, error, limits.seconds)
        connection.send(last.ended(problem, limits.seconds))
    connection.close()
    # Threads of the author's would keep it alive.
    os._exit(0)


def _leave_streams() -> None:
    """What the file reads and prints is not the editor's business, which may not read its log."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _over() -> None:
    raise OutOfTime
