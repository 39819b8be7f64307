"""Pieces that the text of a finding is laid out of, in the form of rustc, as styled lines."""

from __future__ import annotations

import re

from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.styled import Line, Style, line


def headline(kind: str, style: Style, subject: str, message: str) -> Line:
    """What was found, in one line; `kind` has the style of its severity."""
    return line((kind, style), (f": {subject}: {message}", Style.strong))


def way_out(text: str) -> Line:
    """The last line: what can be done."""
    return line(("   = ", Style.frame), ("help", Style.help), f": {text}")


def note(text: str) -> Line:
    """A line of what else there is to know."""
    return line(("   = ", Style.frame), text)


def snippet(position: Position, style: Style, label: str = "") -> list[Line]:
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
