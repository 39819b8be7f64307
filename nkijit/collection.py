"""Python's search for cycles of garbage, kept out of work that makes many objects and drops few."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


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
            gc.enable()
