"""What stands under the fields of a class: the string literal that documents each of them.

Python keeps no such strings, so they are read from the source when they are asked for. Where there
is no source, as in an installation of compiled files only, there is no documentation either.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise


def documentation_of(owner: type, field: str) -> str:
    """The string under the field of a class, as one line; empty when there is none."""
    return _of_module(owner.__module__).get((owner.__name__, field), "")


@cache
def _of_module(name: str) -> dict[tuple[str, str], str]:
    """The documentation of all fields in a module, by class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
    except (OSError, TypeError):  # no source
        return {}
    return {
        (node.name, field): text
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for statement, below in pairwise(node.body)
        for field in _names(statement)
        if (text := _text(below))
    }


def _names(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.Assign):
        return []
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _text(statement: ast.stmt) -> str:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return ""
    value = statement.value.value
    return " ".join(value.split()) if isinstance(value, str) else ""
