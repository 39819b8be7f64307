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


class WarningGroup(Enum):
    """The subject of a warning."""

    suspicious = "suspicious"
    """The kernel is valid, but its result is probably not the intended result."""
    advice = "advice"
    """The kernel wastes time or memory."""
    portability = "portability"
    """The vendor's compiler does not accept the code."""


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
    kind: ErrorKind | None = ErrorKind.illegal
    """The consequence of an error; None for a warning."""
    group: WarningGroup | None = None
    """The group of a warning; None for an error."""

    @property
    def severity(self) -> str:
        """`error` for a violation of hardware limits or documents, else `warning`."""
        return "error" if self.group is None else "warning"
