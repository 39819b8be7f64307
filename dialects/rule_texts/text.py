"""The text of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """The consequence of breaking a rule."""

    illegal = "illegal"
    """No compiler or device accepts the kernel."""
    undefined = "undefined"
    """The kernel runs, but some values are undefined."""
    does_not_fit = "does not fit"
    """The kernel would run with larger on-chip memories or other addresses of tiles."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """The texts of a rule."""

    id: str
    category: str
    """The subject of the rule: `shape`, `dtype`, `access`, ..."""
    sentence: str
    """The rule as a statement that is true of correct kernels."""
    help: str
    """How to fix a violation."""
    source: str
    """The public document that states the rule."""
    severity: str = "error"
    """`error` for a violation of hardware limits or documents, `warning` for bad practice."""
    kind: ErrorKind | None = ErrorKind.illegal
    """The consequence of a violation; None for a warning."""
