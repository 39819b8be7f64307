"""What all processes have in common: what they get, and how they end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class EndedError(Exception):
    """A process has ended before its time; the message says how."""


class OutOfTimeError(Exception):
    """A process was still at work at the end of its time, and was ended."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"still running after {self.seconds:g} s; it was ended"


Send = Callable[[Any], None]
"""Sends an object that can be pickled to the process that has started this one."""
Begin = Callable[[float, float, int, Callable[[], None]], None]
"""Bounds the process that calls it; see `begin` of `forks.py` and `spawns.py`."""


def ending_of(code: int | None) -> str:
    """How a process has ended."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"has ended with exit code {code}"
