"""Diagnostics: findings of passes, as data with a text form.

The text form follows rustc: a headline with the rule's id, the source line with a marker, each
operand with its buffer, shape, dtype and place of allocation, and a fix. `layout.py` creates these
parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from nkijit.dialects.rule_texts.text import ErrorKind, RuleText, WarningGroup
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.layout import headline, help_line, note, snippet
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.styled import Line, Style, as_html, as_text


@dataclass(frozen=True, slots=True, repr=False)
class Operand(ShownFields):
    """An operand that a finding mentions."""

    name: str
    """The operand's name in the instruction's signature."""
    value: str
    """The operand's name in the kernel's IR, with `%`."""
    description: str
    """The operand's buffer, shape and dtype; for a view, also its allocation."""
    allocated: Position | None = None

    def __str__(self) -> str:
        text = f"{self.name}: {self.value}, {self.description}"
        return text if self.allocated is None else f"{text}, allocated at {self.allocated}"


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit of the source that fixes a finding."""

    span: Span
    old: str
    """The replaced text."""
    new: str
    """The new text."""

    def __str__(self) -> str:
        return f"{self.old} -> {self.new}"


@dataclass(frozen=True, slots=True, repr=False)
class Diagnostic:
    """One finding."""

    rule: RuleText
    message: str
    subject: str
    """The instruction or construct that the finding is about, e.g. `nisa.activate2`."""
    where: tuple[Position, ...] = ()
    """The source lines of the subject, innermost call first."""
    notes: tuple[str, ...] = ()
    """Further facts, one per line."""
    help: str = ""
    """How to fix the finding; if empty, the rule's own help is shown."""
    severity: str = ""
    """`error` or `warning`; if empty, the rule's own severity applies."""
    related: tuple[tuple[Position, str], ...] = ()
    """Further places in the source, each with a label, e.g. "written here"."""
    operands: tuple[Operand, ...] = ()
    """The operands that the finding is about."""
    ir: str = ""
    """The operation as IR, if its source line is unknown."""
    marked: tuple[Span, ...] = ()
    """The spans of the innermost statement to mark, the main one first.

    If empty, the called name is marked.
    """
    fix: Fix | None = None
    """An edit that fixes the finding, where the text to write is certain."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "help", self.help or self.rule.help)
        object.__setattr__(self, "severity", self.severity or self.rule.severity)

    @property
    def kind(self) -> ErrorKind | None:
        """The consequence of the error; None for a warning."""
        return self.rule.kind if self.severity == "error" else None

    @property
    def group(self) -> WarningGroup | None:
        """The group of a warning, also of a denied one; None for an error.

        A warning about a possible violation of an error rule is in the group `suspicious`.
        """
        if self.rule.group is not None or self.severity == "error":
            return self.rule.group
        return WarningGroup.suspicious

    def stops(self, *, strict: bool) -> bool:
        """Whether a kernel with this finding must not be run or lowered.

        If `strict`, all errors stop it. Otherwise, errors of the kinds `undefined` and
        `does_not_fit` do not.
        """
        lenient = self.kind is ErrorKind.undefined or self.kind is ErrorKind.does_not_fit
        return self.severity == "error" and (strict or not lenient)

    def lines(self) -> list[Line]:
        """Return the finding's text as styled lines."""
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
        return [*lines, help_line(self.help), note(f"more: nkijit explain {self.rule.id}")]

    def __repr__(self) -> str:
        at = f" at {self.where[0]}" if self.where else ""
        return f"<{self.severity}[{self.rule.id}]{at}: {self.subject}: {self.message}>"

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())
