"""Python's garbage collection, kept out of work that makes many objects."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_MANY = 200_000
"""Objects that are put aside when they have been made; fewer are looked through at once."""
_MOST_MOVED = 4_000_000
"""So many objects are put aside, or as many as there were the last time if those are more, before
all are looked through, garbage among them."""
_FROZEN = 2_000
"""So many objects are frozen by Python itself from 3.12 on, at most: those that never end. Whoever
freezes a program has more."""
_moved = 0
"""Objects put aside since all were looked through."""
_stayed = 0
"""How many there were then."""


@contextmanager
def without_collection() -> Generator[None]:
    """Do not look for cycles of garbage; also a decorator.

    Lowering a kernel of 100,000 instructions makes a million objects that stay. Python looks
    through all of them again and again, which takes as long as the work itself.
    """
    was_enabled = gc.isenabled()
    # An interrupt may come after any call.
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            try:
                _put_aside()
            finally:
                gc.enable()


def _put_aside() -> None:
    """Let what was made go to the oldest objects at once.

    Looking through it, which Python does next, takes a twentieth of the time that a prediction
    takes, and finds little. It is looked through when enough has come together.
    """
    global _moved, _stayed
    made = gc.get_count()[0]
    if made < _MANY:
        return
    is_free = gc.get_freeze_count() < _FROZEN  # else it is somebody else's to unfreeze
    # What has just been made stays; garbage is among what was made before.
    is_due = _moved > max(_MOST_MOVED, _stayed)
    if is_due:
        _moved = 0
        gc.collect()
    _moved += made
    if is_free:
        gc.freeze()
        if is_due:
            _stayed = gc.get_freeze_count()
        gc.unfreeze()
