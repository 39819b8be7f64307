"""Several findings: their order, repeats of one mistake, and how they show themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.styled import Line, Style, as_html, as_text, line


class Findings(tuple[Diagnostic, ...]):
    """Diagnostics that show themselves, in a terminal and in a notebook."""

    __slots__ = ()

    def lines(self, of: str = "") -> list[Line]:
        """All findings as they are shown, in styled lines, with a closing count.

        `of` stands behind the count: what has been judged.
        """
        shown = [part for diagnostic in self for part in (*diagnostic.lines(), line())]
        closing = f"{self.summary()} {of}" if of else self.summary()
        return [*shown, line((closing, Style.strong))]

    @property
    def errors(self) -> int:
        """How many are errors; the others are warnings."""
        return sum(d.severity == "error" for d in self)

    def summary(self) -> str:
        """How many there are of each severity."""
        errors = self.errors
        counts: list[str] = []
        for count, word in ((errors, "error"), (len(self) - errors, "warning")):
            if count:
                counts.append(f"{count} {word}{'s' if count > 1 else ''}")
        return " and ".join(counts) or "no findings"

    def __str__(self) -> str:
        return as_text(self.lines())

    def __repr__(self) -> str:
        return f"<findings: {self.summary()}>"

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics as text, with a closing count."""
    return str(Findings(diagnostics))


# A number or a shape, but not the digit in a name like 'operand0'.
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:x\d+)*")


def collapse(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One diagnostic for each mistake and place: an unrolled loop repeats its mistakes."""
    first: dict[object, Diagnostic] = {}
    repeats: dict[object, int] = {}
    for diagnostic in diagnostics:
        # Messages that differ in numbers only are one mistake: sizes change in a loop. One
        # instruction may break a rule with several operands, which the messages name.
        message = _NUMBER.sub("#", diagnostic.message)
        key: object = (diagnostic.rule.id, diagnostic.where, diagnostic.subject, message)
        # Without a place nothing says that two findings have the same cause.
        key = key if diagnostic.where else object()
        if key in first:
            repeats[key] = repeats.get(key, 0) + 1
        else:
            first[key] = diagnostic
    for key, count in repeats.items():
        note = f"the same finding {count + 1} times at this place, in an unrolled loop or call"
        first[key] = replace(first[key], notes=(*first[key].notes, note))
    return list(first.values())


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by the kernel's line, which is the last of the places; others stay in front."""
    return sorted(
        diagnostics, key=lambda d: (d.where[-1].line, d.where[-1].column) if d.where else (0, 0)
    )
