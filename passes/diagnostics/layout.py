"""The parts of a finding's text, laid out as by rustc, as styled lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import source_line
from nkijit.passes.diagnostics.styled import Line, Style, line


def headline(kind: str, style: Style, subject: str, message: str) -> Line:
    """Return the first line of a finding; `style` is the style of the word `kind`."""
    return line((kind, style), (f": {subject}: {message}", Style.strong))


def help_line(text: str) -> Line:
    """Return the last line of a finding, which has the fix."""
    return line(("   = ", Style.frame), ("help", Style.help), f": {text}")


def note(text: str) -> Line:
    """Return a line of a finding with a further fact."""
    return line(("   = ", Style.frame), text)


def snippet(
    position: Position, style: Style, label: str = "", marked: Sequence[Span] = ()
) -> list[Line]:
    """Return the source line of a position with a marker, below a line with the position itself.

    Args:
        label: for a further position (`:::`), the text next to the marker.
        marked: spans to mark instead of the called name.
    """
    source = position.source_line()
    if marked and source:
        return _marked_snippet(marked, style)
    shown = f"{position}: {label}" if label and not source else str(position)
    lines = [line(("  ::: " if label else "  --> ", Style.frame), shown)]
    if source:
        number = str(position.line)
        margin = " " * len(number)
        marker = f"{'-' * position.width} {label}" if label else "^" * position.width
        indent = _blank(source[: position.column - 1])
        lines += [
            line((f" {margin} |", Style.frame)),
            line((f" {number} | ", Style.frame), source),
            line((f" {margin} | ", Style.frame), indent, (marker, style)),
        ]
    return lines


def _marked_snippet(marked: Sequence[Span], style: Style) -> list[Line]:
    """Return the source lines of some spans with markers; `...` is between distant lines."""
    file = marked[0].start.file
    on_line: dict[int, list[tuple[int, int]]] = {}
    for span in marked:
        # The first line of a long expression is enough to identify it.
        on_line.setdefault(span.start.line, []).append(span.columns(span.start.line))
    width = len(str(max(on_line)))
    lines = [line(("  --> ", Style.frame), str(marked[0].start))]
    lines.append(line((f" {' ' * width} |", Style.frame)))
    before: int | None = None
    for number in sorted(on_line):
        if before is not None and number > before + 1:
            lines.append(line((" ...", Style.frame)))
        source = source_line(file, number)
        columns = {c for first, last in on_line[number] for c in range(first, last + 1)}
        marker = "".join(
            "^" if column in columns else "\t" if source[column - 1] == "\t" else " "
            for column in range(1, max(columns) + 1)
        )
        lines += [
            line((f" {number:>{width}} | ", Style.frame), source),
            line((f" {' ' * width} | ", Style.frame), (marker, style)),
        ]
        before = number
    return lines


def _blank(text: str) -> str:
    """Replace the characters of a text by spaces; tabs stay, so that later text is aligned."""
    return re.sub(r"[^\t]", " ", text)
