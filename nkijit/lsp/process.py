"""Analyses in processes of their own: a file that hangs, crashes or eats memory ends only its own.

A server of forks has imported nkijit once, so a process begins with the file at once, and knows
nothing of earlier states of it or of the modules beside it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from nkijit.lsp.facts import Analysis, Problem
from nkijit.passes.diagnostics.places import Position, Span

_GRACE = 2.0
"""Seconds that a process has for saying where it was when its time was over."""
_MIB = 1 << 20

_FORKS = get_context("forkserver")
# The main module is the command's, and is imported by each process unless it is there already.
_FORKS.set_forkserver_preload([__name__, "nkijit.lsp.analysis", "nkijit.cli"])


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
        self._connection, theirs = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_work, args=(theirs, path, text, folder, limits))
        self._process.start()
        theirs.close()
        self._until = time.monotonic() + limits.seconds + _GRACE

    def next(self) -> Analysis | None:
        """What is known next, waiting for it; None after the end.

        A process that dies has its end told as a problem, beside what it has said before.
        """
        if self._is_over:
            return None
        try:
            if not self._connection.poll(max(0.0, self._until - time.monotonic())):
                self._end()
                return self._ended(f"still running after {self._limits.seconds:g} s; it was ended")
            found: Analysis = self._connection.recv()
        except (EOFError, OSError):
            self._end()
            return self._ended(f"the process that ran this file {_ending(self._process.exitcode)}")
        self._last = found
        if found.complete:
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

    def _ended(self, message: str) -> Analysis:
        span = Span(Position(self._path, 1, 1), 1, 2)
        problem = Problem(span, "error", message)
        return self._last.ended(problem, self._limits.seconds)


def prepare() -> None:
    """Begin to import what analyses need, so that the first one finds it."""
    from multiprocessing.forkserver import ensure_running

    ensure_running()


def _ending(code: int | None) -> str:
    """How a process has ended."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"


def _work(connection: Connection, path: str, text: str, folder: Path, limits: Limits) -> None:
    """What the process does."""
    # The server of forks has it; the server of the editor does without.
    from nkijit.lsp.analysis import analyse, out_of_time

    os.setsid()
    _leave_streams()
    _limit(limits)
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
