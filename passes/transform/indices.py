"""What the indices of loops that were found again are called: as in the author's source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nkijit.passes.diagnostics.places import positions
from nkijit.passes.diagnostics.source_text import source_lines
from nkijit.passes.transform.nodes import Loop, Node, Unit

_LETTERS = "ijklmnpqrstuvwxyz"

_Chain = tuple[tuple[str, int], ...]
"""The lines of a chain of calls, the kernel's own first."""
_Variable = str | None
"""What counts the iterations of a loop in the source; None where it has no name."""


class IndexNames:
    """Names the indices of loops.

    A loop takes the variable of the innermost loop in the source that all of its operations come
    from, but for those of the loops in it. It is the author's loop if each of these does something
    outside of the others; of loops that do nothing else, as many are named as were found.
    """

    def __init__(self):
        self._found: dict[Loop, tuple[tuple[_Variable, ...], int]] = {}

    def of(self, loop: Loop, around: Sequence[str]) -> str:
        """The name of a loop's index, other than those of the loops around."""
        variables, place = self._own(loop)
        if 0 <= place < len(variables):
            name = variables[place]
            if name is not None and name not in around:
                return name
        return next(name for name in _letters() if name not in around)

    def _own(self, loop: Loop) -> tuple[tuple[_Variable, ...], int]:
        """The loops in the source around all that a loop does, and which of them it is."""
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
    """The outermost loops among nodes and in their regions."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
        elif isinstance(node, Unit):
            for region in node.regions:
                yield from _loops(region.nodes)


def _chain(unit: Unit) -> _Chain:
    return tuple((place.file, place.line) for place in positions(unit.op.location)[::-1])


def _around(chains: Sequence[_Chain]) -> tuple[_Variable, ...]:
    """The loops in the source that all of some operations are in, the outermost first."""
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
    except RecursionError:  # an expression of thousands of terms
        return ()


@lru_cache(maxsize=32)
def _parsed(lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # also what is no Python
        return None


def _in(node: ast.AST, first: int, last: int) -> list[_Variable]:
    """The loops of a function, from a node inwards, that some lines of it are in."""
    found: list[_Variable] = []
    if isinstance(node, (ast.For, ast.While)):
        if node.body[0].lineno <= first and last <= (node.body[-1].end_lineno or 0):
            found.append(_variable(node))
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        found += (_named(made.target) for made in node.generators)
    for child in ast.iter_child_nodes(node):
        # Some kinds of nodes have no place of their own.
        if getattr(child, "lineno", first) <= first and last <= getattr(child, "end_lineno", last):
            inner = _in(child, first, last)
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                return inner  # the loops around it do not run it
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
    """The name of a variable, if IR can have it and it says something."""
    name = target.id if isinstance(target, ast.Name) else "_"
    return name if name.isascii() and name.strip("_") else None
