"""Names for the indices of found loops: the variables of the corresponding source loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nkijit.passes.diagnostics.places import positions
from nkijit.passes.diagnostics.source_text import source_lines
from nkijit.passes.transform.nodes import Loop, Node, Unit

_LETTERS = "ijklmnpqrstuvwxyz"

_Chain = tuple[tuple[str, int], ...]
"""The (file, line) of each call of a chain, the kernel's own call first."""
_Variable = str | None
"""The variable of a loop in the source; None if it has no usable name."""


class IndexNames:
    """Names the indices of loops.

    A loop gets the variable of the innermost source loop that contains all of its operations and is
    outside the source loops of its nested loops. This is the corresponding source loop if every
    source loop directly contains operations. If a source loop directly contains only another loop,
    the name of the innermost loop is used.
    """

    def __init__(self):
        self._found: dict[Loop, tuple[tuple[_Variable, ...], int]] = {}

    def of(self, loop: Loop, around: Sequence[str]) -> str:
        """Return the name of a loop's index, different from those of the loops `around` it."""
        variables, place = self._own(loop)
        if 0 <= place < len(variables):
            name = variables[place]
            if name is not None and name not in around:
                return name
        return next(name for name in _letters() if name not in around)

    def _own(self, loop: Loop) -> tuple[tuple[_Variable, ...], int]:
        """Return the variables of the source loops around a loop, and the index of its variable."""
        found = self._found.get(loop)
        if found is None:
            inner = [self._own(node)[1] for node in _loops(loop.body)]
            around = _around([_chain(unit) for unit in _units(loop.body)])
            found = self._found[loop] = around, min([len(around), *inner]) - 1
        return found


def _letters() -> Iterator[str]:
    count = 0
    while True:
        count += 1
        yield from (letter * count for letter in _LETTERS)


def _units(nodes: Sequence[Node]) -> Iterator[Unit]:
    for node in nodes:
        if isinstance(node, Loop):
            yield from _units(node.body)
        elif isinstance(node, Unit):
            yield node
            for region in node.regions:
                yield from _units(region.nodes)


def _loops(nodes: Sequence[Node]) -> Iterator[Loop]:
    """Yield the outermost loops among nodes and in their regions."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
        elif isinstance(node, Unit):
            for region in node.regions:
                yield from _loops(region.nodes)


def _chain(unit: Unit) -> _Chain:
    return tuple((place.file, place.line) for place in positions(unit.op.location)[::-1])


def _around(chains: Sequence[_Chain]) -> tuple[_Variable, ...]:
    """Return the variables of the source loops that contain all operations, outermost first."""
    found: list[_Variable] = []
    for frames in zip(*chains, strict=False):
        file, _ = frames[0]
        lines = [line for _, line in frames]
        if any(other != file for other, _ in frames):
            break
        found += _variables_at(file, min(lines), max(lines))
        if min(lines) != max(lines):
            break
    return tuple(found)


def _variables_at(file: str, first: int, last: int) -> Sequence[_Variable]:
    tree = _parsed(tuple(source_lines(file)))
    try:
        return () if tree is None else _in(tree, first, last)
    except RecursionError:  # e.g. an expression with thousands of terms
        return ()


@lru_cache(maxsize=32)
def _parsed(lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # e.g. the text is not Python
        return None


def _in(node: ast.AST, first: int, last: int) -> list[_Variable]:
    """Return the variables of the loops in a node that contain the lines `first` to `last`."""
    found: list[_Variable] = []
    if isinstance(node, (ast.For, ast.While)):
        if node.body[0].lineno <= first and last <= (node.body[-1].end_lineno or 0):
            found.append(_variable(node))
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        found += (_named(made.target) for made in node.generators)
    for child in ast.iter_child_nodes(node):
        # Some kinds of nodes have no line numbers.
        if getattr(child, "lineno", first) <= first and last <= getattr(child, "end_lineno", last):
            inner = _in(child, first, last)
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                return inner  # loops around a definition do not repeat its body
            found += inner
    return found


def _variable(loop: ast.For | ast.While) -> _Variable:
    if isinstance(loop, ast.While):
        return None
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    counted = isinstance(called, ast.Name) and called.id == "enumerate"
    if counted and isinstance(loop.target, ast.Tuple) and loop.target.elts:
        return _named(loop.target.elts[0])
    return _named(loop.target)


def _named(target: ast.expr) -> _Variable:
    """Return the name of a variable; None if it is not valid in IR, or only underscores."""
    name = target.id if isinstance(target, ast.Name) else "_"
    return name if name.isascii() and name.strip("_") else None
