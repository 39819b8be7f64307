"""Help texts about the loops of the user's source around an instruction.

Traced kernels have unrolled loops, so findings about results of several iterations get these texts
from the source, when they are shown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nkijit.dialects.rule_texts.lint import DEAD_STORE, OVERWRITTEN_RESULT
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.source_text import source_text
from nkijit.passes.verify.results import FOLLOW_THE_LOOP, READS_THE_LAST
from nkijit.traced.call_names import source_of


def with_loops(finding: Diagnostic) -> Diagnostic:
    """Return a finding about the results of a loop, with a help text that names the loop."""
    if finding.rule not in (DEAD_STORE, OVERWRITTEN_RESULT) or not finding.where:
        return finding
    around = list(_around(finding, finding.where[0].line))
    help = _indented(finding, around)
    if not help and finding.help == FOLLOW_THE_LOOP:
        help = _following(finding, around)
    return replace(finding, help=help) if help else finding


def _around(finding: Diagnostic, line: int) -> Iterator[ast.For]:
    """Yield the `for` loops around a line in its function, the innermost first."""
    tree = source_of(source_text(finding.where[0].file)).tree
    nodes = [node for node in ast.walk(tree) if _has(node, line)]  # the outermost first
    for node in reversed(nodes):
        if isinstance(node, ast.FunctionDef):
            return
        if isinstance(node, ast.For):
            yield node


def _has(node: ast.AST, line: int) -> bool:
    start, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return start is not None and end is not None and start <= line <= end


def _indented(finding: Diagnostic, around: Iterable[ast.For]) -> str:
    """Return the help for a store after a loop that should be in the loop; "" otherwise."""
    if [label for _, label in finding.related] != [READS_THE_LAST]:
        return ""
    reader = finding.related[0][0]
    if reader.file != finding.where[0].file:
        return ""
    outer = list(_around(finding, reader.line))
    left = next((loop for loop in around if loop not in outer), None)
    if left is None or not _is_after(reader.line, left, outer):
        return ""
    if _indices(reader).isdisjoint(_assigned(left)):
        return ""
    return (
        f"line {reader.line} runs once, after the loop of line {left.lineno}, and stores only its "
        "last result: indent it into the loop"
    )


def _indices(place: Position) -> set[str]:
    """Return the variables in the indices of the calls that begin in a line."""
    calls = source_of(source_text(place.file)).nodes.get(place.line, ())
    parts = (part for call in calls for part in ast.walk(call))
    indices = [part.slice for part in parts if isinstance(part, ast.Subscript)]
    return {part.id for index in indices for part in ast.walk(index) if isinstance(part, ast.Name)}


def _is_after(line: int, loop: ast.For, outer: Iterable[ast.For]) -> bool:
    """Whether a line runs once for each run of a loop, after the loop."""
    inside = next(iter(outer), None)
    return line > (loop.end_lineno or 0) and (inside is None or _has(inside, loop.lineno))


def _following(finding: Diagnostic, around: Iterable[ast.For]) -> str:
    """Return the help for a written place that the source indexes with loop variables."""
    names = _names_in(finding)
    for loop in around:
        for name in names & _assigned(loop.target):
            inner = next((each for each in _loops_in(loop) if name in _assigned(each.target)), None)
            if inner is not None:
                return (
                    f"the loop of line {inner.lineno} assigns {name}, the variable of the loop of "
                    f"line {loop.lineno}: give one of them another name"
                )
            return finding.rule.help
    return ""


def _names_in(finding: Diagnostic) -> set[str]:
    """Return the variables in the marked expression of a finding."""
    if not finding.marked:
        return set()
    span = finding.marked[0]
    tree = source_of(source_text(span.start.file)).tree
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and (span.start.line, span.start.column - 1) <= (node.lineno, node.col_offset)
        and (node.lineno, node.col_offset) < (span.end_line, span.end_column - 1)
    }


def _assigned(node: ast.AST) -> set[str]:
    """Return the variables that a loop or the target of an assignment assigns."""
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _loops_in(loop: ast.For) -> Iterator[ast.For]:
    return (node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.For))
