"""Functions in processes of their own: one that hangs, crashes or eats memory ends only its own.

A process has imported nkijit when its function begins, and knows nothing of what others have
imported or changed. `system` starts, bounds and ends it: `forks.py` where there are forks, else
`spawns.py`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from nkijit.host.processes.channels import Begin, EndedError, OutOfTimeError, Send

if sys.platform == "win32":
    from nkijit.host.processes import spawns as system
else:
    from nkijit.host.processes import forks as system

_GRACE = 2.0
"""Seconds that a process has for saying where it was when its time was over."""
_IMPORTS = 60.0
"""Seconds that a process has for getting ready, before its time begins."""
_MIB = 1 << 20


class _Sign(Enum):
    """What a process sends beside what its function tells."""

    BEGUN = auto()
    """It is ready."""


class OutOfTime(BaseException):
    """A function has taken too long. Not an Exception: authors catch these."""


@dataclass(frozen=True)
class Limits:
    """What a function may use."""

    seconds: float = 30.0
    mebibytes: int = 8192
    """Of memory, beyond what a process has that has done nothing."""


class Isolated:
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
        self._process = system.start(_work, system.begin, function, arguments, limits)
        self._until = time.monotonic() + _IMPORTS

    def next(self) -> tuple[Any] | None:
        """What it tells next, waiting for it; None after the end.

        Raises EndedError when the process dies, OutOfTimeError when its time is over and it does
        not say so itself.
        """
        if self._is_over:
            return None
        try:
            found = self._received()
            if found is _Sign.BEGUN:
                self._until = time.monotonic() + self._limits.seconds + _GRACE
                found = self._received()
        except OutOfTimeError:
            self._end()
            raise OutOfTimeError(self._limits.seconds) from None
        except EndedError:
            self._end()
            raise
        if found is None:
            self._end()
        return found

    def _received(self) -> Any:
        return self._process.recv(max(0.0, self._until - time.monotonic()))

    def kill(self) -> None:
        """End the process, with all that it has started; `next` is at its end then."""
        if not self._is_over:
            self._process.kill()

    def _end(self) -> None:
        self._is_over = True
        self._process.end()


def preload(modules: Sequence[str]) -> None:
    """Say what functions need, so that it is imported before the first one."""
    system.preload(modules)


def prepare() -> None:
    """Begin to import it, so that the first process finds it."""
    system.prepare()


def missing() -> str | None:
    """What processes on this system lack, for the author to know."""
    return system.MISSING


def _work(
    send: Send,
    begin: Begin,
    function: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    limits: Limits,
) -> None:
    """What the process does."""
    _leave_streams()
    begin(limits.seconds, _GRACE, limits.mebibytes * _MIB, _over)
    send(_Sign.BEGUN)
    for found in function(*arguments):
        send((found,))
    send(None)
    # Threads of the author's would keep it alive.
    os._exit(0)


def _leave_streams() -> None:
    """What a file reads and prints is not for those who speak a protocol there."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _over() -> None:
    raise OutOfTime
