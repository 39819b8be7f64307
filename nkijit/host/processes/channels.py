"""Exceptions and types that the implementations of processes share."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class EndedError(Exception):
    """A process ended unexpectedly. The message gives the signal or exit code."""


class OutOfTimeError(Exception):
    """A process exceeded its time limit and was ended."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"still running after {self.seconds:g} s; it was ended"


Send = Callable[[Any], None]
"""A function that sends a picklable object to the parent process."""
Begin = Callable[[float, float, int, Callable[[], None]], None]
"""A function that limits the time and memory of the current process.

Arguments: see `begin` in `forks.py` and `spawns.py`.
"""


def ending_of(code: int | None) -> str:
    """Describe the end of a process, for a message; `code` as in `Popen.returncode`."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"
