"""Diagnostics: what a pass found, and how it is told to the author.

The form follows rustc: a headline with the rule's id, the author's source line with a marker,
each operand with its buffer, shape, data type and place of allocation, and a way out.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import StringIO
from traceback import walk_tb
from types import TracebackType

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.printer import Printer

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.places import Position, positions, shown_path
from nkijit.passes.diagnostics.styled import Line, Style, as_ansi, as_html, as_text, line


@dataclass(frozen=True, slots=True)
class Operand:
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


@dataclass(frozen=True, slots=True)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "help", self.help or self.rule.help)
        object.__setattr__(self, "severity", self.severity or self.rule.severity)

    def lines(self) -> list[Line]:
        """The finding as it is shown, in styled lines."""
        style = Style.error if self.severity == "error" else Style.warning
        message = f": {self.subject}: {self.message}"
        lines = [line((f"{self.severity}[{self.rule.id}]", style), (message, Style.strong))]
        if self.where:
            lines += _snippet(self.where[0], style)
            lines += [_note(f"called from {position}") for position in self.where[1:]]
        for position, label in self.related:
            lines += _snippet(position, Style.frame, label)
        lines += [_note(f"in: {self.ir}")] if self.ir else []
        lines += [_note(str(operand)) for operand in self.operands]
        lines += [_note(note) for note in self.notes]
        lines.append(line(("   = ", Style.frame), ("help", Style.help), f": {self.help}"))
        return lines

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def _note(text: str) -> Line:
    return line(("   = ", Style.frame), text)


def _snippet(position: Position, style: Style, label: str = "") -> list[Line]:
    """A place with its line of source; a further one (`:::`) is marked with what happened there."""
    source = position.source_line()
    shown = f"{position}: {label}" if label and not source else str(position)
    lines = [line(("  ::: " if label else "  --> ", Style.frame), shown)]
    if source:
        number = str(position.line)
        margin = " " * len(number)
        marker = f"{'-' * position.width} {label}" if label else "^" * position.width
        # A tab must stay a tab, so that the marker stands under what it marks.
        indent = re.sub(r"[^\t]", " ", source[: position.column - 1])
        lines += [
            line((f" {margin} |", Style.frame)),
            line((f" {number} | ", Style.frame), source),
            line((f" {margin} | ", Style.frame), indent, (marker, style)),
        ]
    return lines


class Findings(tuple[Diagnostic, ...]):
    """Diagnostics that show themselves, in a terminal and in a notebook."""

    __slots__ = ()

    def lines(self) -> list[Line]:
        """All findings as they are shown, in styled lines, with a closing count."""
        shown = [part for diagnostic in self for part in (*diagnostic.lines(), line())]
        return [*shown, line((self.summary(), Style.strong))]

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

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.lines())


class NkiValidationError(Exception):
    """A kernel breaks rules of the hardware or of the documented ISA; carries all findings."""

    # The name that authors import it by, which Python puts in front of the message.
    __module__ = "nkijit"

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics = Findings(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return str(self.diagnostics)

    def _repr_html_(self) -> str:
        return as_html(self.diagnostics.lines())

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback: the author's lines, and the findings."""
        lines = [*_calls(self.__traceback__), *self.diagnostics.lines()]
        return (as_ansi(lines) if _ipython_has_colours() else as_text(lines)).split("\n")


def _calls(trace: TracebackType | None) -> list[Line]:
    """The frames of a traceback, outermost first, without those of IPython and of this package."""
    lines: list[Line] = []
    for frame, number in walk_tb(trace):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("IPython", "ipykernel", _PACKAGE):
            code = frame.f_code
            lines.append(line(f"{shown_path(code.co_filename)}:{number}, in {code.co_qualname}"))
            source = linecache.getline(code.co_filename, number).strip()
            lines += [line(f"    {source}")] if source else []
    return [*lines, line()] if lines else []


_PACKAGE = __name__.partition(".")[0]


def _ipython_has_colours() -> bool:
    """A notebook shows colours, though its streams are no terminals."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "colors", "").lower() != "nocolor" and not os.environ.get("NO_COLOR")


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


def describe_operand(name: str, value: SSAValue) -> Operand:
    """An operand as a finding shows it."""
    shown = f"%{value.name_hint}" if value.name_hint else "an unnamed value"
    if not is_tile(value):
        return Operand(name, shown, "a number")
    base = base_of(value)
    text = str(info_of(value))
    if base is not value:
        text += f", a view of %{base.name_hint or '?'} ({info_of(base)})"
    if isinstance(base, BlockArgument):
        return Operand(name, shown, f"{text}, an argument of the kernel")
    if isinstance(base.owner, ConstantOp):
        text += ", a constant"
    elif not isinstance(base.owner, AllocOp):
        return Operand(name, shown, text)
    places = positions(base.owner.location)
    return Operand(name, shown, text, places[0] if places else None)


def with_notes(error: BaseException) -> str:
    """An exception's message with its notes, where xDSL puts the operation that is ill formed."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def op_text(op: Operation) -> str:
    """An operation as one line of IR; of one with a body, the line that opens it."""
    stream = StringIO()
    Printer(stream).print_op(op)
    return stream.getvalue().partition("\n")[0]


def mention(op: Operation) -> str:
    """An instruction in a few words: what it is, and the author's name for it."""
    return f"{op.name} '{op.label}'" if isinstance(op, NisaOp) and op.label else op.name


def diagnose(
    rule: RuleText,
    op: Operation,
    message: str,
    operands: Iterable[tuple[str, SSAValue]] = (),
    *,
    notes: Iterable[str] = (),
    related: Iterable[tuple[Operation, str]] = (),
    help: str | None = None,
    severity: str | None = None,
) -> Diagnostic:
    """A diagnostic at an operation; without a source location it shows the IR.

    Args:
        rule: the rule that is broken.
        op: the operation that breaks it.
        message: in which way.
        operands: the operands that it is about, with their names in the signature.
        notes: what else there is to know.
        related: further operations that are involved, with what they do: `(op, "written here")`.
        help: a way out that is more exact than the rule's own.
        severity: `error` or `warning`, if not the rule's own.
    """
    where = positions(op.location)
    places: list[tuple[Position, str]] = []
    unplaced: list[str] = []
    for other, label in related:
        chain = positions(other.location)
        if not chain:
            unplaced.append(f"{label}: {op_text(other)}")
            continue
        places.append((chain[0], label))
        # In the same function, only the calls tell one operation from the other.
        places += [(place, "called from here") for place in chain[1:] if place not in where]
    return Diagnostic(
        rule,
        message,
        op.name,
        tuple(where),
        (*unplaced, *notes),
        help or "",
        severity or "",
        tuple(places),
        tuple(describe_operand(name, value) for name, value in operands),
        op_text(op) if isinstance(op.location, UnknownLoc) else "",
    )
