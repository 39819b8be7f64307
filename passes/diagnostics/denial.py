"""Selection of warnings that count as errors (`--deny`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.diagnostics.diagnostic import Diagnostic

ALL = "warnings"
"""The selector of all warnings."""


@dataclass(frozen=True)
class Denial:
    """Selectors of warnings that count as errors: `warnings`, groups of warnings, and rules.

    Raises ValueError for an unknown selector.
    """

    selectors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        groups = [group.value for group in WarningGroup]
        for selector in self.selectors:
            if selector != ALL and selector not in groups and selector not in RULE_TEXTS:
                near = did_you_mean(selector, (ALL, *groups, *RULE_TEXTS))
                known = ", ".join((ALL, *groups))
                raise ValueError(
                    f"there is no warning '{selector}' to deny; there are {known} and the ids of "
                    f"rules{near}"
                )
            if selector in RULE_TEXTS and RULE_TEXTS[selector].group is None:
                raise ValueError(f"{selector} is an error already; only warnings are denied")

    def __bool__(self) -> bool:
        return bool(self.selectors)

    @property
    def needs_advice(self) -> bool:
        """Whether the denied warnings include advice, which takes long to compute."""
        return any(
            _group_of(selector) is not WarningGroup.suspicious for selector in self.selectors
        )

    def applied(self, found: Iterable[Diagnostic]) -> Sequence[Diagnostic]:
        """Return findings with the denied warnings as errors."""
        return [self._applied(diagnostic) for diagnostic in found]

    def _applied(self, diagnostic: Diagnostic) -> Diagnostic:
        group = diagnostic.group
        if group is None or diagnostic.severity == "error":
            return diagnostic
        by = next((s for s in (ALL, group.value, diagnostic.rule.id) if s in self.selectors), None)
        if by is None:
            return diagnostic
        notes = (*diagnostic.notes, f"a warning that counts as an error: deny {by}")
        return replace(diagnostic, severity="error", notes=notes)


def _group_of(selector: str) -> WarningGroup | None:
    """Return the group of warnings that a selector names; None if it names all groups."""
    if selector in RULE_TEXTS:
        return RULE_TEXTS[selector].group
    return None if selector == ALL else WarningGroup(selector)
