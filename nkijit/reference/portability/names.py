"""Static resolution of names in the source of a function."""

from __future__ import annotations

import ast
import builtins
from types import CellType, FunctionType, ModuleType
from typing import Any, cast

from nkijit.reference.portability.definitions import Definition

UNKNOWN = object()
"""The value of an expression that is known only when the kernel runs."""


class SourceNames:
    """The values of names in a function's source, as far as they are known statically."""

    def __init__(self, function: FunctionType, definition: Definition):
        self._globals = function.__globals__
        self._cells: dict[str, CellType] = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self._locals: set[str] = set()
        counts: dict[str, int] = {}
        dicts: dict[str, int] = {}
        integers: dict[str, int] = {}
        assigned_calls: dict[str, list[ast.Call]] = {}
        for node in ast.walk(definition):
            if isinstance(node, ast.arg):
                self._locals.add(node.arg)
                counts[node.arg] = counts.get(node.arg, 0) + 1
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._locals.add(node.id)
                counts[node.id] = counts.get(node.id, 0) + 1
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not definition:
                self._locals.add(node.name)
            elif isinstance(node, ast.Assign) and _makes_dict(node.value):
                _count(dicts, node.targets)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        assigned_calls.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and node.value and _makes_dict(node.value):
                _count(dicts, [node.target])
            elif isinstance(node, (ast.For, ast.comprehension)) and _is_range(node.iter):
                _count(integers, [node.target])
        for node in ast.walk(definition):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._locals.difference_update(node.names)
        # Variables that are only assigned values of one kind.
        self.dicts = {name for name, count in dicts.items() if counts[name] == count}
        self.integers = {name for name, count in integers.items() if counts[name] == count}
        self.assigned_calls = {
            name: calls for name, calls in assigned_calls.items() if counts[name] == len(calls)
        }
        """For each variable, the calls whose results are assigned to it.

        Variables that are also assigned other values are omitted.
        """

    def value_of(self, node: ast.expr) -> Any:
        """Return the value of a global or closure variable, or of a member of a module or class.

        Returns UNKNOWN for local variables and other expressions.
        """
        if isinstance(node, ast.Attribute):
            owner = self.value_of(node.value)
            found = isinstance(owner, (ModuleType, type)) and hasattr(owner, node.attr)
            return getattr(cast(Any, owner), node.attr) if found else UNKNOWN
        if not isinstance(node, ast.Name) or node.id in self._locals:
            return UNKNOWN
        if node.id in self._cells:
            try:
                return self._cells[node.id].cell_contents
            except ValueError:  # not assigned yet
                return UNKNOWN
        return self._globals.get(node.id, getattr(builtins, node.id, UNKNOWN))

    def is_no_string(self, node: ast.expr | None) -> bool:
        """Whether an expression is known not to be a string."""
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, str)
        if isinstance(node, (ast.Tuple, ast.UnaryOp)):
            return True
        if isinstance(node, ast.BinOp):
            return self.is_no_string(node.left)
        if isinstance(node, ast.Name) and node.id in self.integers:
            return True
        value = UNKNOWN if node is None else self.value_of(node)
        return value is not UNKNOWN and not isinstance(value, str)


def _count(counts: dict[str, int], targets: list[ast.expr]) -> None:
    for target in targets:
        if isinstance(target, ast.Name):
            counts[target.id] = counts.get(target.id, 0) + 1


def called_name(node: ast.expr) -> str:
    """Return the last part of the name of a called function, "" for other expressions."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _makes_dict(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.DictComp)) or called_name(node) == "dict"


def _is_range(node: ast.expr) -> bool:
    return called_name(node) in ("range", "affine_range", "sequential_range", "static_range")
