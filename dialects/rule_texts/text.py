"""The text of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """The consequence of an error for a kernel."""

    illegal = "illegal"
    """No compiler or device accepts it."""
    undefined = "undefined"
    """It runs, but some values are undefined."""
    does_not_fit = "does not fit"
    """It would run with larger on-chip memories or other addresses of tiles."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """The texts of a rule."""

    id: str
    category: str
    """The subject: `shape`, `dtype`, `access`, ..."""
    sentence: str
    """The rule: a statement that holds for a correct kernel."""
    help: str
    """How to fix a violation."""
    source: str
    """The public document that states the rule."""
    severity: str = "error"
    """`error` for a violation of hardware limits or documents, `warning` for bad practice."""
    kind: ErrorKind | None = ErrorKind.illegal
    """The consequence of an error; None for a warning."""
