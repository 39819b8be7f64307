"""The amount of work, as a number of calls: times depend on other load of the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from nkijit.kernels.hooks import WATCHERS


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions are called, those of Python itself among them.

    Watchers of traces, which the test run adds, are not counted.
    """
    count = 0

    def note(frame: Any, event: str, called: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before, watchers = sys.getprofile(), WATCHERS[:]
    WATCHERS.clear()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        WATCHERS[:] = watchers
    return count
