"""Renaming of a function's variables and parameters in one file.

Names of modules and of functions are not renamed: other files may use them. A renamed parameter is
renamed in the keyword arguments of the decorators and calls of its function as well.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import lines_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


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
    owner = next((f for f in reversed(functions) if name in _bound(f)), None)
    if owner is None:
        raise RenameError(f"'{name}' is not a variable of a function")
    places = [_span(path, text, each) for each in _uses(owner, name)]
    if name in _parameters(owner) and not isinstance(owner, ast.Lambda):
        places += [_span(path, text, each) for each in _keywords(module, owner, name)]
    return sorted(set(places), key=lambda s: (s.start.line, s.start.column))


def check_name(text: str, places: list[Span], new: str) -> None:
    """Raise RenameError if a new name is invalid or is used in the file already."""
    if not new.isidentifier() or keyword.iskeyword(new):
        raise RenameError(f"'{new}' is not a name")
    used = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    used |= {n.arg for n in ast.walk(ast.parse(text)) if isinstance(n, ast.arg)}
    if new in used:
        raise RenameError(f"the file uses '{new}' already")


_Named = ast.Name | ast.arg | ast.keyword


def _names(
    node: ast.AST, functions: tuple[_Function, ...]
) -> Iterator[tuple[tuple[_Function, ...], _Named]]:
    """Yield all names below a node, each with the functions around it."""
    if isinstance(node, (ast.Name, ast.arg, ast.keyword)):
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
    for each in ast.iter_child_nodes(node):
        yield from _names(each, functions)


def _all_arguments(function: _Function) -> list[ast.arg]:
    of = function.args
    variadic = [each for each in (of.vararg, of.kwarg) if each is not None]
    return [*of.posonlyargs, *of.args, *of.kwonlyargs, *variadic]


def _parameters(function: _Function) -> set[str]:
    return {each.arg for each in _all_arguments(function)}


def _bound(function: _Function) -> set[str]:
    """Return the names that a function binds itself."""
    own = [node for functions, node in _names(function, ()) if functions == (function,)]
    stored = {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outer: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer |= set(node.names)
    return (stored | _parameters(function)) - outer


def _uses(owner: _Function, name: str) -> Iterator[_Named]:
    """Yield the uses of a function's variable, also in inner functions that do not rebind it."""
    for functions, node in _names(owner, ()):
        if owner not in functions or isinstance(node, ast.keyword):
            continue
        inner = functions[functions.index(owner) + 1 :]
        own = node.id if isinstance(node, ast.Name) else node.arg
        if own == name and not any(name in _bound(each) for each in inner):
            yield node


def _keywords(
    module: ast.Module, owner: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[ast.keyword]:
    """Yield the keyword arguments for a parameter: in decorators, and in calls by its name."""
    for decorator in owner.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("example"):
            yield from (k for k in decorator.keywords if k.arg == name)
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            if isinstance(called, ast.Name) and called.id == owner.name:
                yield from (k for k in node.keywords if k.arg == name)


def _span(path: str, text: str, node: _Named) -> Span:
    """Return the span of a name, without the value or annotation after it."""
    name = node.id if isinstance(node, ast.Name) else str(node.arg)
    lines = lines_of(text)
    start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode()) + 1
    return Span(Position(path, node.lineno, start), node.lineno, start + len(name))


def _covers(span: Span, line: int, column: int) -> bool:
    return span.start.line == line and span.start.column <= column <= span.end_column
