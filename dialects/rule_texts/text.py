"""The text of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """What becomes of a kernel that has an error."""

    illegal = "illegal"
    """No compiler or device takes it."""
    undefined = "undefined"
    """It runs, and some values are not determined."""
    does_not_fit = "does not fit"
    """It would run if the memories on the chip were larger, or tiles lay elsewhere."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """What is said about a rule wherever it is shown."""

    id: str
    category: str
    """buffer, shape, dtype, operator, target, access, dataflow or memory."""
    sentence: str
    help: str
    source: str
    """The public document that states it."""
    severity: str = "error"
    """`error` for what hardware or the documents forbid, `warning` for what they advise against."""
    kind: ErrorKind | None = ErrorKind.illegal
    """Of an error, what becomes of the kernel; None of a warning."""
