"""Runs on one backend or the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from nkijit.passes.interpret.backends.choice import BACKEND_VARIABLE, NATIVE


@contextmanager
def backend(name: str) -> Iterator[None]:
    """Runs inside are those of a backend."""
    before = os.environ.get(BACKEND_VARIABLE)
    os.environ[BACKEND_VARIABLE] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[BACKEND_VARIABLE]
        else:
            os.environ[BACKEND_VARIABLE] = before


def natively() -> AbstractContextManager[None]:
    """Runs inside are those of native code, made at once."""
    return backend(NATIVE)
