"""The text of a rule."""

from __future__ import annotations

from dataclasses import dataclass


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
