"""Python's garbage collection, kept out of work that makes many objects."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_MANY = 200_000
"""Objects that are put aside when they have been made; fewer are looked through at once."""
_MOST_MOVED = 4_000_000
"""So many objects are put aside before all are looked through, garbage among them."""
_FROZEN = 2_000
"""So many objects are frozen by Python itself from 3.12 on, at most: those that never end. Whoever
freezes a program has more."""
_moved = 0


@contextmanager
def without_collection() -> Generator[None]:
    """Do not look for cycles of garbage; also a decorator.

    Lowering a kernel of 100,000 instructions makes a million objects that stay. Python looks
    through all of them again and again, which takes as long as the work itself.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _put_aside()
            gc.enable()


def _put_aside() -> None:
    """Let what was made go to the oldest objects at once.

    Looking through it, which Python does next, takes a twentieth of the time that a prediction
    takes, and finds little. It is looked through when enough has come together.
    """
    global _moved
    made = gc.get_count()[0]
    if made < _MANY:
        return
    _moved += made
    if _moved > _MOST_MOVED:
        _moved = 0
        gc.collect()
    elif gc.get_freeze_count() < _FROZEN:  # else it is somebody else's to unfreeze
        gc.freeze()
        gc.unfreeze()
