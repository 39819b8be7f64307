"""Python's garbage collection, paused during work that makes many objects."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_pauses: set[object] = set()
"""The work that is going on in all threads."""
_was_enabled = False
"""Whether the first of it found garbage collection enabled."""


@contextmanager
def without_collection() -> Generator[None]:
    """Pause garbage collection; also a decorator.

    Lowering a kernel of 100,000 instructions makes a million objects that stay alive. Python
    traverses them at every collection, which takes as long as the work itself. Collection goes on
    when the last thread that paused it has left, also by an exception.
    """
    global _was_enabled
    pause = object()
    # An interrupt can arrive after any call, so everything from the first change on is undone.
    try:
        with _LOCK:
            if not _pauses:
                _was_enabled = gc.isenabled()
            _pauses.add(pause)
            gc.disable()
        yield
    finally:
        with _LOCK:
            try:
                _pauses.discard(pause)
            finally:
                if not _pauses and _was_enabled:
                    gc.enable()
