"""The source loops around a call, and the loops whose variables the call's arguments depend on.

Traces contain no loops, because tracing unrolls them, so the loops are read from the source text.
If the source is unclear, the functions return an empty list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from xdsl.dialects.builtin import LocationAttr

from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.diagnostics.source_text import source_text


def independent_loops(location: LocationAttr) -> list[str]:
    """Return the variables of the loops that a call's inputs do not depend on, outermost first.

    If helpers call each other inside such loops, only the innermost call inside a loop counts.
    """
    for place in positions(location):
        found = _independent(place)
        if found:
            return found
    return []


def loops_around(location: LocationAttr) -> list[str]:
    """Return the variables of all loops around a call and its callers, outermost first."""
    found: list[str] = []
    for place in positions(location):
        tree = _tree(source_text(place.file))
        path = [] if tree is None else _path(tree, place)
        if not path or not isinstance(path[-1], ast.Call):
            return []
        functions = [n for n, node in enumerate(path) if isinstance(node, ast.FunctionDef)]
        own = path[functions[-1] :] if functions else []
        found[:0] = [ast.unparse(node.target) for node in own if isinstance(node, ast.For)]
    return found


def _independent(place: Position) -> list[str]:
    tree = _tree(source_text(place.file))
    if tree is None:
        return []
    path = _path(tree, place)
    call = path[-1] if path else None
    function = next((n for n in reversed(path) if isinstance(n, ast.FunctionDef)), None)
    if not isinstance(call, ast.Call) or function is None:
        return []
    needed = _closure(function, {name for read in _read(call) for name in _names(read)})
    loops = [node for node in path[path.index(function) :] if isinstance(node, ast.For)]
    return [ast.unparse(loop.target) for loop in loops if needed.isdisjoint(_names(loop.target))]


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _path(tree: ast.AST, place: Position) -> list[ast.AST]:
    """Return the nodes around the call at a place, outermost first, ending with the call itself."""
    path: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        path.append(node)
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset + 1) == (
            place.line,
            place.column,
        ):
            return path
        node = next((n for n in ast.iter_child_nodes(node) if _has(n, place)), None)
    return []


def _has(node: ast.AST, place: Position) -> bool:
    if not isinstance(node, (ast.stmt, ast.expr, ast.keyword)):
        return False
    start = node.lineno, node.col_offset + 1
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1
    return start <= (place.line, place.column) <= end


def _read(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call except its destination."""
    named = {keyword.arg for keyword in call.keywords}
    stores = len(call.args) + len(call.keywords) > 1 and "dst" not in named
    yield from call.args[1:] if stores and len(call.args) > 1 else call.args
    yield from (keyword.value for keyword in call.keywords if keyword.arg != "dst")


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _assigned(target: ast.AST) -> set[str]:
    """Return the names that an assignment changes, e.g. `a` for `a[i]`."""
    stored = {n.value for n in ast.walk(target) if isinstance(n, (ast.Subscript, ast.Attribute))}
    inner = {n.id for n in stored if isinstance(n, ast.Name)}
    whole = (n for n in ast.walk(target) if isinstance(n, ast.Name))
    return inner | {n.id for n in whole if isinstance(n.ctx, ast.Store)}


def _closure(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """Return `names`, and all other names of a function that their values depend on."""
    sources: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            for name in _assigned(target):
                sources.setdefault(name, set()).update(_names(value) if value is not None else ())
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += sources.get(name, ())
    return found
