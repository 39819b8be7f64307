"""Python's garbage collection, paused during work that makes many objects."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_pauses: set[object] = set()
"""One token per active pause of any thread."""
_was_enabled = False
"""True when garbage collection was enabled before the first active pause."""


@contextmanager
def lasting() -> Generator[None]:
    """Pause garbage collection while objects are made that live as long as the process.

    They are moved to the oldest generation, so that the next collection does not traverse them.
    """
    with without_collection():
        yield
        if not gc.get_freeze_count():  # the caller's frozen objects stay frozen
            gc.freeze()
            gc.unfreeze()


@contextmanager
def without_collection() -> Generator[None]:
    """Pause garbage collection; also usable as a decorator.

    Lowering a kernel of 100,000 instructions creates a million live objects. Python traverses these
    objects at every collection, which takes as long as the work itself. Collection resumes when the
    last pause of any thread ends, also by an exception.
    """
    global _was_enabled
    pause = object()
    # An interrupt can arrive after any call, so the `try` includes the first change.
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
