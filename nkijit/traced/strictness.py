"""Strictness: whether all errors stop a kernel, or only errors that no compiler accepts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

import numpy as np

from nkijit.dialects.python_values import one_line
from nkijit.passes.diagnostics.denial import Denial
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import warn_of

STRICT_VARIABLE = "NKIJIT_STRICT"
DENY_VARIABLE = "NKIJIT_DENY"


def is_strict(requested: bool | None, default: bool = True) -> bool:
    """Return whether all errors stop a kernel.

    Args:
        requested: the user's choice; None for no choice.
        default: the result if neither the user nor the environment decides.

    Raises ValueError when `NKIJIT_STRICT` is neither 0 nor 1.
    """
    if requested is not None:
        if not isinstance(cast(Any, requested), (bool, np.bool_)):
            raise TypeError(f"'strict' is True, False or None, got {one_line(requested)}")
        return bool(requested)
    text = os.environ.get(STRICT_VARIABLE, "")
    if text not in ("", "0", "1"):
        raise ValueError(f"{STRICT_VARIABLE} is '{text}', expected 0 or 1")
    return default if not text else text == "1"


def denial_of_environment() -> Denial:
    """Return the warnings that count as errors: a comma-separated list in `NKIJIT_DENY`.

    Raises ValueError for an unknown group or rule.
    """
    return _denial(os.environ.get(DENY_VARIABLE, ""))


@cache
def _denial(text: str) -> Denial:
    try:
        return Denial(tuple(part.strip() for part in text.split(",") if part.strip()))
    except ValueError as error:
        raise ValueError(f"{DENY_VARIABLE}: {error}") from None


class WarningIssuer:
    """Issues findings that do not stop a run as `NkiWarning`, once per rule and line."""

    def __init__(self, found: Iterable[Diagnostic] = ()):
        """`found`: findings that are known before the run; they are issued at once."""
        self._issued: set[tuple[str, str, int] | Diagnostic] = set()
        for diagnostic in found:
            self(diagnostic)

    def __call__(self, diagnostic: Diagnostic) -> None:
        place = diagnostic.where[0] if diagnostic.where else None
        key = diagnostic if place is None else (diagnostic.rule.id, place.file, place.line)
        if key not in self._issued:
            self._issued.add(key)
            warn_of(diagnostic)
