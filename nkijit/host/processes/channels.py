"""What all processes have in common: how they are spoken with, and how they end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, Protocol


class EndedError(Exception):
    """A process has ended before its time; the message says how."""


class OutOfTimeError(Exception):
    """A process was still at work at the end of its time, and was ended."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"still running after {self.seconds:g} s; it was ended"


class Channel(Protocol):
    """What a process sends objects through."""

    def send(self, obj: Any, /) -> None:
        """Send an object that can be pickled to the process that has started this one."""
        ...


class Process(Protocol):
    """A process, as the one that has started it sees it."""

    def recv(self, seconds: float | None) -> Any:
        """The next object that it sends.

        Raises EndedError when it ends, OutOfTimeError when it sends none for so many seconds.
        """
        ...

    def kill(self) -> None:
        """End it at once, with all that it has started where the system can do that."""
        ...

    def end(self) -> None:
        """The same, and forget it."""
        ...


Begin = Callable[[float, float, int, Callable[[], None]], None]
"""Bounds the process that calls it; see `begin` of `forks.py` and `spawns.py`."""


def ending_of(code: int | None) -> str:
    """How a process has ended."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"
