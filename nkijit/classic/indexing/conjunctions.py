"""`mask=(i < n and j < m)`: Python's `and` and `not` between comparisons of index expressions.

The vendor's compiler reads the source of a kernel and treats `and` in a mask as `&`. Python's `and`
needs the truth value of the first comparison, but a mask has none. nkijit therefore recompiles the
kernel, with `&` and `~` in place of `and` and `not` in its `mask=` arguments. Line numbers and
names do not change.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, cast

from nkijit.classic.indexing.expressions import EVERYWHERE, NOWHERE, Mask, as_truth
from nkijit.passes.diagnostics.source_text import text_around


def with_conjunctions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with `&` and `~` in place of `and` and `not` in `mask=` arguments."""
    if not isinstance(function, FunctionType):
        return function
    code = _rewritten(function.__code__)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    copied = FunctionType(
        code,
        {**function.__globals__, _BOTH: _both, _NEGATED: _negated},
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


_BOTH, _NEGATED = "__nkijit_both", "__nkijit_negated"


def _both(*parts: Any) -> Any:
    """Return the conjunction of masks and truth values."""
    if not any(isinstance(part, Mask) for part in parts):
        return all(parts)
    return functools.reduce(lambda a, b: a & b, parts, EVERYWHERE)


def _negated(part: Any) -> Any:
    if isinstance(part, Mask):
        return ~part
    truth = as_truth(part)
    return (NOWHERE if truth else EVERYWHERE) if truth is not None else not part


class _Masks(ast.NodeTransformer):
    """Replaces `and` and `not` in `mask=` arguments."""

    def __init__(self) -> None:
        self.changed = False
        self._inside = False

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        before, self._inside = self._inside, self._inside or node.arg == "mask"
        self.generic_visit(node)
        self._inside = before
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if not self._inside or not isinstance(node.op, ast.And):
            return node
        return self._call(_BOTH, node.values, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not self._inside or not isinstance(node.op, ast.Not):
            return node
        return self._call(_NEGATED, [node.operand], node)

    def _call(self, name: str, arguments: list[ast.expr], node: ast.AST) -> ast.AST:
        self.changed = True
        call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


@functools.lru_cache(maxsize=256)
def _rewritten(code: CodeType) -> CodeType | None:
    """Return a function's code with its masks rewritten; None if they do not change."""
    try:
        module = ast.parse(text_around(code))
    except SyntaxError:
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return _compiled(node, code)
    return None


def _compiled(node: ast.FunctionDef, code: CodeType) -> CodeType | None:
    masks = _Masks()
    masks.visit(node)
    if not masks.changed:
        return None
    node.decorator_list = []
    node.returns = None
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    # Free variables remain free if an outer function assigns them.
    free = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in code.co_freevars
    ]
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [], None, [], [], None, []), [*free, node], [], lineno=1
    )
    module = ast.fix_missing_locations(ast.Module([cast(ast.stmt, outer)], []))
    compiled = compile(module, code.co_filename, "exec")
    return _function_code(compiled, code.co_name)


def _function_code(code: CodeType, name: str) -> CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == name:
                return constant
            found = _function_code(constant, name)
            if found is not None:
                return found
    return None
