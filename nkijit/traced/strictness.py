"""What stops a kernel: all of its errors, or only those that no device or compiler takes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import warn_of

STRICT_VARIABLE = "NKIJIT_STRICT"


def is_strict(asked: bool | None, default: bool = True) -> bool:
    """Whether all errors stop a kernel.

    Args:
        asked: what the author says; None for nothing.
        default: what holds if neither the author nor the environment says anything.

    Raises ValueError when `NKIJIT_STRICT` is neither 0 nor 1.
    """
    if asked is not None:
        return asked
    text = os.environ.get(STRICT_VARIABLE, "")
    if text not in ("", "0", "1"):
        raise ValueError(f"{STRICT_VARIABLE} is '{text}', expected 0 or 1")
    return default if not text else text == "1"


class Teller:
    """Issues the errors that a run goes on with as warnings, once for each rule and line."""

    def __init__(self, found: Iterable[Diagnostic] = ()):
        """`found`: what is known before the run."""
        self._told: set[tuple[str, str, int] | Diagnostic] = set()
        for diagnostic in found:
            self(diagnostic)

    def __call__(self, diagnostic: Diagnostic) -> None:
        place = diagnostic.where[0] if diagnostic.where else None
        key = diagnostic if place is None else (diagnostic.rule.id, place.file, place.line)
        if key not in self._told:
            self._told.add(key)
            warn_of(diagnostic)
