"""Syntax trees of functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from nkijit.passes.diagnostics.source_text import text_around

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@functools.lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def definition_of(function: Callable[..., Any]) -> Definition | None:
    """Return the syntax tree of a function; None if its source cannot be read."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    tree = _parse(text_around(code))
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
                return node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                return node
    return None
