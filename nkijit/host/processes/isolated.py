"""Functions in separate processes, with limits of time and memory.

A function that hangs or crashes ends only its own process. Each process starts with nkijit imported
and without state of other processes. The implementation is `spawns.py` on Windows, else `forks.py`.
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
"""The grace period in seconds: after the time limit, a process can still report its position."""
_IMPORTS = 60.0
"""The time in seconds within which a process must start; after its start, its time limit begins."""
_MIB = 1 << 20


class _Sign(Enum):
    """Signals that a process sends to its parent, in addition to the function's results."""

    BEGUN = auto()
    """The process has started, and its time limit begins."""


class OutOfTime(BaseException):
    """Raised in a function at its time limit.

    It is no Exception, because user code may catch all Exceptions.
    """


@dataclass(frozen=True)
class Limits:
    """The time and memory that a function may use."""

    seconds: float = 30.0
    mebibytes: int = 8192
    """The memory limit in MiB, in addition to the memory of a new process."""


class Isolated:
    """Runs a generator function in a separate process, which sends each result when it is yielded.

    Args:
        function: a generator function of a module. OutOfTime is raised in it at the time limit; it
            may catch it and yield a last result.
        arguments: the arguments of the function.
        limits: the limits of time and memory.
    """

    def __init__(
        self, function: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], limits: Limits
    ):
        self._limits = limits
        self._is_over = False
        self._process = system.start(_work, system.begin, function, arguments, limits)
        self._until = time.monotonic() + _IMPORTS

    def next(self) -> tuple[Any] | None:
        """Wait for the next result and return it in a tuple; returns None after the last result.

        Raises EndedError when the process dies, OutOfTimeError when the function has not handled
        OutOfTime within the grace period.
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
        """End the process and its children; `next` then raises EndedError."""
        if not self._is_over:
            self._process.kill()

    def _end(self) -> None:
        self._is_over = True
        self._process.end()


def preload(modules: Sequence[str]) -> None:
    """Set the modules that processes import before they run a function."""
    system.preload(modules)


def prepare() -> None:
    """Start importing the modules, so that the first function starts faster."""
    system.prepare()


def missing() -> str | None:
    """Return a message about limits that this system cannot enforce; None if there are none."""
    return system.MISSING


def _work(
    send: Send,
    begin: Begin,
    function: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    limits: Limits,
) -> None:
    """Run the function in the process and send its results."""
    _leave_streams()
    begin(limits.seconds, _GRACE, limits.mebibytes * _MIB, _over)
    send(_Sign.BEGUN)
    for found in function(*arguments):
        send((found,))
    send(None)
    # Threads of user code would keep the process alive.
    os._exit(0)


def _leave_streams() -> None:
    """Redirect the standard streams, which servers use for their protocol, to the null device."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _over() -> None:
    raise OutOfTime
