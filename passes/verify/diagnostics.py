"""Diagnostics: what a pass found, and how it is told to the author.

The form follows rustc: a headline with the rule's id, the author's source line with a marker,
each operand with its buffer, shape, data type and place of allocation, and a way out.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, LocationAttr, UnknownLoc
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.printer import Printer

from nkijit.dialects.constant import ConstantOp
from nkijit.dialects.declare import RuleText
from nkijit.dialects.nki import AllocOp
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.views import base_of


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{_shown_path(self.file)}:{self.line}:{self.column}"

    def source_line(self) -> str:
        """The text of the line, empty when the file cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\n")


def _shown_path(file: str) -> str:
    """A path below the current folder is shown relative to it."""
    if not os.path.isabs(file):
        return file
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def positions(location: LocationAttr) -> list[Position]:
    """The places of a location, innermost call first."""
    if isinstance(location, FileLineColLoc):
        return [Position(location.filename.data, location.line.data, location.column.data)]
    if isinstance(location, CallSiteLoc):
        callee, caller = cast(LocationAttr, location.callee), cast(LocationAttr, location.caller)
        return [*positions(callee), *positions(caller)]
    return []


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
    """Operands, and what else there is to know."""
    help: str = ""
    """A way out; the rule's own when empty."""
    severity: str = ""
    """Either `error` or `warning`; what the rule says when empty."""
    related: tuple[tuple[Position, str], ...] = ()
    """Further places in the author's source, each with what happened there."""

    def __post_init__(self) -> None:
        if not self.severity:
            object.__setattr__(self, "severity", self.rule.severity)

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.rule.id}]: {self.subject}: {self.message}"]
        if self.where:
            lines += _snippet(self.where[0])
            lines += [f"   = called from {position}" for position in self.where[1:]]
        for position, label in self.related:
            lines += _snippet(position, label)
        lines += [f"   = {note}" for note in self.notes]
        lines.append(f"   = help: {self.help or self.rule.help}")
        return "\n".join(lines)


_CALLEE = re.compile(r"[\w.]*")


def _snippet(position: Position, label: str = "") -> list[str]:
    """A place with its line of source; a further one (`:::`) is marked with what happened there."""
    source = position.source_line()
    lines = [f"  ::: {position}" if label else f"  --> {position}"]
    if label and not source:
        lines[0] += f": {label}"
    if source:
        number = str(position.line)
        margin = " " * len(number)
        match = _CALLEE.match(source, position.column - 1)
        width = max(1, 0 if match is None else match.end() - match.start())
        # A tab must stay a tab, so that the marker stands under what it marks.
        indent = re.sub(r"[^\t]", " ", source[: position.column - 1])
        marker = f"{'-' * width} {label}" if label else "^" * width
        lines += [f" {margin} |", f" {number} | {source}", f" {margin} | {indent}{marker}"]
    return lines


class NkiValidationError(Exception):
    """A kernel breaks rules of the hardware or of the documented ISA; carries all findings."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        super().__init__(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)

    def __str__(self) -> str:
        return render(self.diagnostics)


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics as text, with a closing count."""
    listed = list(diagnostics)
    errors = sum(d.severity == "error" for d in listed)
    counts: list[str] = []
    for count, word in ((errors, "error"), (len(listed) - errors, "warning")):
        if count:
            counts.append(f"{count} {word}{'s' if count > 1 else ''}")
    return "\n\n".join([*map(str, listed), " and ".join(counts) or "no findings"])


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


def describe_operand(name: str, value: SSAValue) -> str:
    """An operand for a note: its name in the kernel, buffer, shape, data type, allocation."""
    shown = f"%{value.name_hint}" if value.name_hint else "an unnamed value"
    if not is_tile(value):
        return f"{name}: {shown}, a number"
    base = base_of(value)
    text = f"{name}: {shown}, {info_of(value)}"
    if base is not value:
        text += f", a view of %{base.name_hint or '?'} ({info_of(base)})"
    if isinstance(base, BlockArgument):
        return f"{text}, an argument of the kernel"
    if isinstance(base.owner, ConstantOp):
        text += ", a constant"
    elif not isinstance(base.owner, AllocOp):
        return text
    places = positions(base.owner.location)
    return f"{text}, allocated at {places[0]}" if places else text


def with_notes(error: BaseException) -> str:
    """An exception's message with its notes, where xDSL puts the operation that is ill formed."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def op_text(op: Operation) -> str:
    """An operation as one line of IR; of one with a body, the line that opens it."""
    stream = StringIO()
    Printer(stream).print_op(op)
    return stream.getvalue().partition("\n")[0]


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
    shown = [describe_operand(name, value) for name, value in operands]
    if isinstance(op.location, UnknownLoc):
        shown.insert(0, f"in: {op_text(op)}")
    return Diagnostic(
        rule,
        message,
        op.name,
        tuple(where),
        (*shown, *unplaced, *notes),
        help or rule.help,
        severity or rule.severity,
        tuple(places),
    )
