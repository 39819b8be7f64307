"""Renaming of a function's variables and parameters in one file.

Names of modules and of functions are not renamed: other files may use them. A renamed parameter is
renamed in the keyword arguments of the decorators and calls of its function as well.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator

from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import lines_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Scope = _Function | _Comprehension | ast.ClassDef


class RenameError(ValueError):
    """A name that cannot be renamed. The message gives the reason."""


def occurrences(path: str, text: str, line: int, column: int) -> list[Span]:
    """Return the places of the variable that is named at a position, in order.

    Args:
        path: the file.
        text: the document.
        line: the line, counted from 1.
        column: the column, counted from 1, in characters.

    Raises RenameError if there is no variable of a function.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        raise RenameError("the file has a syntax error") from None
    found = next(
        (
            (function, each)
            for function, each in _names(module, ())
            if _covers(_span(path, text, each), line, column)
        ),
        None,
    )
    if found is None:
        raise RenameError("there is no name here")
    functions, node = found
    name = node.id if isinstance(node, ast.Name) else str(node.arg)
    if isinstance(node, ast.keyword):
        raise RenameError("rename the parameter at its function")
    owner = next((s for s in reversed(_visible(functions)) if name in _bound(s)), None)
    if owner is None or isinstance(owner, ast.ClassDef):
        raise RenameError(f"'{name}' is not a variable of a function")
    if name in _bound_otherwise(owner):
        raise RenameError(f"'{name}' is also bound by an import, def, class, except or case")
    places = [_span(path, text, each) for each in _uses(owner, name)]
    places += _nonlocals(path, text, owner, name)
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) and name in _parameters(owner):
        places += [_span(path, text, each) for each in _keywords(module, owner, name)]
    return sorted(set(places), key=lambda s: (s.start.line, s.start.column))


def check_name(text: str, places: list[Span], new: str) -> None:
    """Raise RenameError if a new name is invalid or is used in the file already."""
    if not new.isidentifier() or keyword.iskeyword(new):
        raise RenameError(f"'{new}' is not a name")
    module = ast.parse(text)
    used = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    used |= {n.arg for n in ast.walk(module) if isinstance(n, ast.arg)}
    if new in used | _bound_otherwise(module):
        raise RenameError(f"the file uses '{new}' already")


_Named = ast.Name | ast.arg | ast.keyword


def _names(
    node: ast.AST, functions: tuple[_Scope, ...]
) -> Iterator[tuple[tuple[_Scope, ...], _Named]]:
    """Yield all names below a node, each with the scopes around it."""
    if isinstance(node, (ast.Name, ast.arg)) or (isinstance(node, ast.keyword) and node.arg):
        yield functions, node
    if isinstance(node, _Function):
        # Decorators and defaults are evaluated outside of the function.
        inner = (*functions, node)
        arguments = node.args
        outside = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
        outside += [] if isinstance(node, ast.Lambda) else node.decorator_list
        for each in outside:
            yield from _names(each, functions)
        for argument in _all_arguments(node):
            yield from _names(argument, inner)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for each in body:
            yield from _names(each, inner)
        return
    if isinstance(node, _Comprehension):
        # The first iterable is evaluated outside of the comprehension.
        first = node.generators[0].iter
        yield from _names(first, functions)
        for each in ast.iter_child_nodes(node):
            parts = ast.iter_child_nodes(each) if each is node.generators[0] else (each,)
            for part in parts:
                if part is not first:
                    yield from _names(part, (*functions, node))
        return
    if isinstance(node, ast.ClassDef):
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            yield from _names(each, functions)
        for each in node.body:
            yield from _names(each, (*functions, node))
        return
    for each in ast.iter_child_nodes(node):
        yield from _names(each, functions)


def _all_arguments(function: _Function) -> list[ast.arg]:
    of = function.args
    variadic = [each for each in (of.vararg, of.kwarg) if each is not None]
    return [*of.posonlyargs, *of.args, *of.kwonlyargs, *variadic]


def _parameters(function: _Function) -> set[str]:
    return {each.arg for each in _all_arguments(function)}


def _bound(scope: _Scope) -> set[str]:
    """Return the names that a scope binds itself."""
    if isinstance(scope, _Comprehension):
        targets = [n for each in scope.generators for n in ast.walk(each.target)]
        return {n.id for n in targets if isinstance(n, ast.Name)}
    # Within comprehensions, := binds in the function.
    stored = {
        n.id
        for scopes, n in _names(scope, ())
        if scopes[:1] == (scope,)
        and isinstance(n, ast.Name)
        and isinstance(n.ctx, ast.Store)
        and all(isinstance(s, _Comprehension) and n.id not in _bound(s) for s in scopes[1:])
    }
    parameters = set[str]() if isinstance(scope, ast.ClassDef) else _parameters(scope)
    outer = {
        name
        for node in _statements(scope)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    return (stored | parameters) - outer


def _statements(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without those in functions and classes inside of it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            yield from _statements(node)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound_otherwise(scope: ast.AST) -> set[str]:
    """Return the names that a scope binds by a statement that has no node for the name."""
    found: set[str | None] = set()
    for node in _statements(scope):
        if isinstance(node, (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
    return {name for name in found if name is not None}


def _visible(scopes: tuple[_Scope, ...]) -> list[_Scope]:
    """Return the scopes whose names are visible in the last one: classes hide theirs."""
    return [s for s in scopes if s is scopes[-1] or not isinstance(s, ast.ClassDef)]


def _uses(owner: _Scope, name: str) -> Iterator[_Named]:
    """Yield the uses of a scope's variable, also in inner scopes that do not rebind it."""
    for scopes, node in _names(owner, ()):
        if owner not in scopes or isinstance(node, ast.keyword):
            continue
        inner = _visible(scopes[scopes.index(owner) + 1 :])
        own = node.id if isinstance(node, ast.Name) else node.arg
        if own == name and not any(name in _bound(each) for each in inner):
            yield node


def _nonlocals(path: str, text: str, owner: _Scope, name: str) -> Iterator[Span]:
    """Yield the places of a variable in the `nonlocal` statements of inner functions."""
    lines = lines_of(text)
    for node in ast.walk(owner):
        if isinstance(node, ast.Nonlocal) and name in node.names:
            line = lines[node.lineno - 1]
            start = len(line.encode()[: node.col_offset].decode())
            match = re.compile(rf"\b{name}\b").search(line, start)
            if match is not None:
                place = Position(path, node.lineno, match.start() + 1)
                yield Span(place, node.lineno, match.end() + 1)


def _keywords(
    module: ast.Module, owner: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[ast.keyword]:
    """Yield the keyword arguments for a parameter: in decorators, and in calls by its name."""
    for decorator in owner.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("example"):
            yield from (k for k in decorator.keywords if k.arg == name)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _calls(node.func, owner.name):
            yield from (k for k in node.keywords if k.arg == name)


_METHODS = ("trace", "record", "step", "bisect", "portability")
"""The methods of kernels that take the arguments of the kernel."""


def _calls(function: ast.expr, kernel: str) -> bool:
    """Whether the callee of a call is a kernel: `f`, `f[2]`, `f.trace`, `nki.simulate(f)`."""
    if isinstance(function, ast.Subscript):
        return _calls(function.value, kernel)
    if isinstance(function, ast.Attribute):
        return function.attr in _METHODS and _calls(function.value, kernel)
    if isinstance(function, ast.Call):
        derives = isinstance(function.func, ast.Attribute) and _derives(function.func, kernel)
        return derives or any(_calls(each, kernel) for each in function.args)
    return isinstance(function, ast.Name) and function.id == kernel


def _derives(method: ast.Attribute, kernel: str) -> bool:
    """Whether a call of a method returns a kernel with other settings: `f.strict(False)`."""
    return method.attr in ("strict", "for_target", "on_cores") and _calls(method.value, kernel)


def _span(path: str, text: str, node: _Named) -> Span:
    """Return the span of a name, without the value or annotation after it."""
    name = node.id if isinstance(node, ast.Name) else str(node.arg)
    lines = lines_of(text)
    start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode()) + 1
    return Span(Position(path, node.lineno, start), node.lineno, start + len(name))


def _covers(span: Span, line: int, column: int) -> bool:
    return span.start.line == line and span.start.column <= column <= span.end_column
