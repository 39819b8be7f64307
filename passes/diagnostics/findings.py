"""Collections of findings: their text form and source order, and the removal of repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.dialects.spelling import numbered
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.styled import Line, Style, as_html, as_text, line


class Findings(tuple[Diagnostic, ...]):
    """A tuple of diagnostics with a text form for terminals and notebooks."""

    __slots__ = ()

    def lines(self, of: str = "") -> list[Line]:
        """Return all findings as styled lines, ending with a count.

        `of` names the kernels that were checked; it is appended to the count.
        """
        shown = [part for diagnostic in self for part in (*diagnostic.lines(), line())]
        closing = f"{self.summary()} {of}" if of else self.summary()
        return [*shown, line((closing, Style.strong))]

    @property
    def errors(self) -> int:
        """The number of findings that are errors; the others are warnings."""
        return sum(d.severity == "error" for d in self)

    def summary(self) -> str:
        """Return the number of errors and warnings as text."""
        errors = self.errors
        counts: list[str] = []
        for count, word in ((errors, "error"), (len(self) - errors, "warning")):
            if count:
                counts.append(numbered(count, word))
        return " and ".join(counts) or "no findings"

    def __str__(self) -> str:
        return as_text(self.lines())

    def __repr__(self) -> str:
        return f"<findings: {self.summary()}>"

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Return all diagnostics as text, ending with a count."""
    return str(Findings(diagnostics))


# Matches numbers and shapes, but not digits in names like 'operand0'.
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:x\d+)*")


def collapse(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Merge the findings of unrolled iterations that have the same place and the same mistake."""
    first: dict[object, Diagnostic] = {}
    repeats: dict[object, int] = {}
    for diagnostic in diagnostics:
        # Messages that differ only in numbers are the same mistake, as sizes change in a loop.
        # Messages about several operands of one instruction differ in the operands' names.
        message = _NUMBER.sub("#", diagnostic.message)
        key: object = (diagnostic.rule.id, diagnostic.where, diagnostic.subject, message)
        # Without a place, two findings may have different causes.
        key = key if diagnostic.where else object()
        if key in first:
            repeats[key] = repeats.get(key, 0) + 1
        else:
            first[key] = diagnostic
    for key, count in repeats.items():
        note = (
            f"the same finding {numbered(count + 1, 'time')} at this place, in an unrolled loop or "
            "call"
        )
        first[key] = replace(first[key], notes=(*first[key].notes, note))
    return list(first.values())


def by_weight(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort findings: errors, suspicious code, other warnings; in source order within each.

    The source order is that of lines in the kernel (outermost call); findings without a line come
    first. Advice comes last, because fixing a wrong result may change the code that the advice is
    about.
    """
    return sorted(in_source_order(diagnostics), key=_weight)


def _weight(diagnostic: Diagnostic) -> int:
    if diagnostic.severity == "error":
        return 0
    return 1 if diagnostic.group is WarningGroup.suspicious else 2


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort findings by their line in the kernel (outermost call); first those without a line."""
    return sorted(
        diagnostics, key=lambda d: (d.where[-1].line, d.where[-1].column) if d.where else (0, 0)
    )
