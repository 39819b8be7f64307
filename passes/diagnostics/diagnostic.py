"""Diagnostics: what a pass found, as data that shows itself.

The form follows rustc: a headline with the rule's id, the author's source line with a marker,
each operand with its buffer, shape, data type and place of allocation, and a way out. The pieces
of that form are in `layout.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nkijit.dialects.rule_texts.text import ErrorKind, RuleText
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.layout import headline, note, snippet, way_out
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.styled import Line, Style, as_html, as_text


@dataclass(frozen=True, slots=True, repr=False)
class Operand(ShownFields):
    """An operand that a finding is about."""

    name: str
    """Its name in the instruction's signature."""
    value: str
    """Its name in the kernel, with `%`."""
    description: str
    """Buffer, shape, data type, and what it is a view of."""
    allocated: Position | None = None

    def __str__(self) -> str:
        text = f"{self.name}: {self.value}, {self.description}"
        return text if self.allocated is None else f"{text}, allocated at {self.allocated}"


@dataclass(frozen=True, slots=True, repr=False)
class Diagnostic:
    """One finding."""

    rule: RuleText
    message: str
    subject: str
    """The instruction or construct that it is about, e.g. `nisa.activate2`."""
    where: tuple[Position, ...] = ()
    """The author's lines, innermost first."""
    notes: tuple[str, ...] = ()
    """What else there is to know."""
    help: str = ""
    """A way out; the rule's own when empty."""
    severity: str = ""
    """Either `error` or `warning`; what the rule says when empty."""
    related: tuple[tuple[Position, str], ...] = ()
    """Further places in the author's source, each with what happened there."""
    operands: tuple[Operand, ...] = ()
    """The operands that it is about."""
    ir: str = ""
    """The operation as IR, where no source is known."""
    marked: tuple[Span, ...] = ()
    """Pieces of the innermost line's statement that it is about, the first one first; when empty,
    the name that is called there."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "help", self.help or self.rule.help)
        object.__setattr__(self, "severity", self.severity or self.rule.severity)

    @property
    def kind(self) -> ErrorKind | None:
        """Of an error, what becomes of the kernel; None of a warning."""
        return self.rule.kind if self.severity == "error" else None

    def stops(self, *, strict: bool) -> bool:
        """Whether a kernel with this finding is not run or lowered.

        All errors stop it if `strict` says so, else only those that no device or compiler takes.
        """
        lenient = self.kind is ErrorKind.undefined or self.kind is ErrorKind.does_not_fit
        return self.severity == "error" and (strict or not lenient)

    def lines(self) -> list[Line]:
        """The finding as it is shown, in styled lines."""
        style = Style.error if self.severity == "error" else Style.warning
        lines = [headline(f"{self.severity}[{self.rule.id}]", style, self.subject, self.message)]
        if self.where:
            lines += snippet(self.where[0], style, marked=self.marked)
            lines += [note(f"called from {position}") for position in self.where[1:]]
        for position, label in self.related:
            lines += snippet(position, Style.frame, label)
        lines += [note(f"in: {self.ir}")] if self.ir else []
        lines += [note(str(operand)) for operand in self.operands]
        lines += [note(text) for text in self.notes]
        return [*lines, way_out(self.help), note(f"more: nkijit explain {self.rule.id}")]

    def __repr__(self) -> str:
        at = f" at {self.where[0]}" if self.where else ""
        return f"<{self.severity}[{self.rule.id}]{at}: {self.subject}: {self.message}>"

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())
