"""Source edits that fix findings, for findings that determine the new text with certainty.

Edits are derived from the text of a finding and the source at its position, so they cost nothing
during tracing and verification. `nkijit verify --fix` and editors apply them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from nkijit.dialects.other_names import means
from nkijit.passes.diagnostics.diagnostic import Diagnostic, Fix
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import source_line, source_text
from nkijit.traced.call_names import Source, source_of
from nkijit.tracing.api_names import MODULES
from nkijit.tracing.dtype_words import word_of_nl
from nkijit.tracing.locations import column_in_line, span_of


def with_fix(finding: Diagnostic) -> Diagnostic:
    """Return a finding with its edit, if there is one."""
    if finding.fix is not None or not finding.where:
        return finding
    place = _Place(finding)
    for fix_of in (_spelling, _data_type, _word, _called, _division, _column):
        fix = fix_of(place)
        if fix is not None:
            return replace(finding, fix=fix)
    return finding


class _Place:
    """A finding, with the source at its position."""

    def __init__(self, finding: Diagnostic):
        self.finding = finding
        self.where = finding.where[0]
        self.file = self.where.file
        self._source: Source | None = None

    @property
    def source(self) -> Source:
        """The source of the file, parsed at the first use."""
        if self._source is None:
            self._source = source_of(source_text(self.file))
        return self._source

    def marked(self) -> ast.expr | None:
        """Return the expression that the finding marks."""
        if not self.finding.marked:
            return None
        span = self.finding.marked[0]
        nodes = (n for n in ast.walk(self.source.tree) if isinstance(n, ast.expr))
        there = (n for n in nodes if n.lineno == span.start.line)
        return next((n for n in there if span_of(self.file, n) == span), None)

    def at_place(self) -> ast.expr | None:
        """Return the longest expression that begins at the place of the finding."""
        found = [
            node
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.expr)
            and node.lineno == self.where.line
            and column_in_line(self.file, node.lineno, node.col_offset) == self.where.column
        ]
        ends = [(node.end_lineno or 0, node.end_col_offset or 0) for node in found]
        return found[ends.index(max(ends))] if found else None

    def replacing(self, node: ast.expr, new: str) -> Fix:
        """Return the edit that replaces an expression."""
        span = span_of(self.file, node)
        return Fix(span, _text_of(span), new)


def _text_of(span: Span) -> str:
    lines = [source_line(span.start.file, n) for n in range(span.start.line, span.end_line + 1)]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.start.column - 1 :]
    return "\n".join(lines)


_SUGGESTION = re.compile(r"did you mean '([^']+)'\?")
_QUOTED = re.compile(r"'([^']+)'")


def _spelling(place: _Place) -> Fix | None:
    """Replace a misspelt name or a synonym by the name that the finding suggests."""
    finding = place.finding
    for text in (finding.message, *finding.notes):
        meant = _SUGGESTION.findall(text)
        if len(meant) != 1 or "data type" in text:
            continue
        known = text.partition("did you mean")[0]
        wrong = [
            word
            for word in _QUOTED.findall(known)
            if means(word, meant[0]) or word_of_nl(word) == meant[0]
        ]
        spans = [span for word in dict.fromkeys(wrong) for span in _occurrences(place, word)]
        if len(spans) == 1:
            return Fix(spans[0], _text_of(spans[0]), meant[0])
    return None


def _occurrences(place: _Place, word: str) -> Iterator[Span]:
    """Yield the spans of a word in the marked expression or, if none is marked, in the line."""
    is_comment = word.count("-") > 0
    marked = () if is_comment else place.finding.marked[:1]
    whole = Span(place.where, place.where.line, len(source_line(place.file, place.where.line)) + 1)
    for area in marked or (whole,):
        for line in range(area.start.line, area.end_line + 1):
            text = source_line(place.file, line)
            first = area.start.column - 1 if line == area.start.line and not is_comment else 0
            last = area.end_column - 1 if line == area.end_line else len(text)
            for match in re.finditer(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
                if first <= match.start() and match.end() <= last:
                    start = Position(place.file, line, match.start() + 1)
                    yield Span(start, line, match.end() + 1)


def _data_type(place: _Place) -> Fix | None:
    """Replace another library's name of a data type by the name in nl."""
    if "unknown data type" not in place.finding.message:
        return None
    node = place.marked()
    alias = place.source.alias("language")
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or alias is None:
        return None
    if f"did you mean '{(dtype := word_of_nl(node.value))}'" not in place.finding.message:
        return None
    return place.replacing(node, f"{alias}.{dtype}")


_OBJECT = re.compile(r"pass (nl|nisa)\.([\w.]+)")


def _word(place: _Place) -> Fix | None:
    """Replace a name in quotes by the object, `"exp"` by `nl.exp`, or a function by an operator."""
    match = _OBJECT.match(place.finding.help)
    node = None if match is None else place.marked()
    if match is None or node is None:
        return None
    alias = place.source.alias(MODULES[match[1]])
    if isinstance(node, ast.Attribute) and "got the function" in place.finding.message:
        return None if alias is None else place.replacing(node, f"{alias}.{match[2]}")
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    meant = match[2].rpartition(".")[2]
    if alias is None or not means(node.value, meant):
        return None
    return place.replacing(node, f"{alias}.{match[2]}")


_CALLED = re.compile(r" was called here; pass ([\w.]+)$")


def _called(place: _Place) -> Fix | None:
    """Replace the call of an operator by the operator: `nl.exp(t)` by `nl.exp`."""
    match = _CALLED.search(place.finding.help)
    node = None if match is None else place.marked()
    if match is None or not isinstance(node, ast.Call):
        return None
    return place.replacing(node, match[1])


_FLOAT = re.compile(r"\bgot .*\d\.\d|is a float\b|float.* cannot be interpreted as an integer")


def _division(place: _Place) -> Fix | None:
    """Replace `/` by `//` in an expression that must be an integer."""
    finding = place.finding
    if not any(_FLOAT.search(text) for text in (finding.message, *finding.notes)):
        return None
    node = place.marked() or place.at_place()
    divisions = [] if node is None else _divisions(node)
    if node is not None and not divisions:
        values = [_assigned(place.source.tree, name) for name in _names_of(node)]
        found = [(value, _divisions(value)) for value in values if value is not None]
        found = [(value, inner) for value, inner in found if inner]
        if len(found) != 1:
            return None
        node, divisions = found[0]
    if node is None or not divisions:
        return None
    span = span_of(place.file, node)
    new = old = _text_of(span)
    parsed = ast.parse(f"({old})", mode="eval").body
    # From the last to the first, so that the places of the others do not change.
    for division in sorted(_divisions(parsed), key=_start, reverse=True):
        operator = _operator_at(new, division)
        if operator is None:
            return None
        new = f"{new[:operator]}//{new[operator + 1 :]}"
    return Fix(span, old, new)


def _divisions(node: ast.AST) -> list[ast.BinOp]:
    """Return the divisions in an expression, without those in the arguments of calls."""
    found = [node] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else []
    children = ast.iter_child_nodes(node)
    # A constant, such as 1 / 3, is meant.
    found = [each for each in found if not isinstance(each.left, ast.Constant)]
    for child in children:
        if not (isinstance(node, ast.Call) and child is not node.func and not _is_range(node)):
            found += _divisions(child)
    return found


def _is_range(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    return name.endswith("range") or name == "ds"


def _start(node: ast.BinOp) -> tuple[int, int]:
    return (node.left.end_lineno or 0, node.left.end_col_offset or 0)


def _operator_at(text: str, division: ast.BinOp) -> int | None:
    """Return the index of a division's `/` in a text that was parsed in parentheses."""
    line, column = _start(division)
    lines = text.split("\n")
    before = sum(len(each) + 1 for each in lines[: line - 1])
    offset = column - (1 if line == 1 else 0)
    start = before + len(lines[line - 1].encode()[:offset].decode())
    at = text.find("/", start)
    between = text[start:at]
    return at if at >= 0 and not between.strip(" \t\n\\)") else None


def _names_of(node: ast.expr) -> list[str]:
    return list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def _assigned(tree: ast.AST, name: str) -> ast.expr | None:
    """Return the value of a variable that a file assigns once."""
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    return found[0] if len(found) == 1 else None


def _column(place: _Place) -> Fix | None:
    """Select one element per partition of an operand that has several elements per partition."""
    if place.finding.rule.id != "column":
        return None
    node = place.marked()
    if not isinstance(node, ast.Name) or "[:, 0:1]" not in place.finding.help:
        return None
    return place.replacing(node, f"{node.id}[:, 0:1]")
