"""Runs on one backend or the other."""

from __future__ import annotations

from contextlib import AbstractContextManager

from nkijit.passes.interpret.backends.choice import NATIVE, on_backend


def natively() -> AbstractContextManager[None]:
    """Runs inside are those of native code, made at once."""
    return on_backend(NATIVE)
