"""Helps for Python conditions whose truth value is not known while a kernel is traced."""

from __future__ import annotations

import ast
from types import FrameType

from nkijit.tracing.locations import evaluated, nodes_of, position_of

Condition = ast.If | ast.IfExp | ast.While | ast.Assert | ast.BoolOp | ast.UnaryOp | ast.Call


def condition_at(frame: FrameType | None) -> Condition | None:
    """Return the syntax node for which Python takes a truth value at a frame's line, if known.

    Examples: the statement `if t > 0:`, the expression `t > 0 or u > 0`, the call `min(t, u)`.
    """
    if frame is None:
        return None
    nodes = nodes_of(frame.f_code)
    here = nodes.get(position_of(frame), [])
    for node in here:
        if isinstance(node, (ast.BoolOp, ast.Call)):
            return node
    every = [node for found in nodes.values() for node in found]
    for node in every:
        if isinstance(node, ast.BoolOp) and any(value in here for value in node.values):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and node.operand in here:
            return node
    tests = (node for node in every if isinstance(node, _WITH_TEST))
    return next((node for node in tests if node.test in here), None)


_WITH_TEST = (ast.If, ast.IfExp, ast.While, ast.Assert)


def tested(condition: Condition | None) -> str:
    """Return the source of the expression whose truth value Python takes; "" if not known."""
    if isinstance(condition, _WITH_TEST):
        return ast.unparse(condition.test)
    return "" if condition is None else ast.unparse(condition)


def help_for_tile(condition: Condition | None) -> str:
    """Return the function of nl that computes a condition on the elements of tiles; "" if none."""
    if isinstance(condition, ast.IfExp):
        return f"write {_where(condition.test, condition.body, condition.orelse)}"
    if isinstance(condition, ast.If):
        return _of_statement(condition)
    if isinstance(condition, ast.BoolOp):
        sign = " & " if isinstance(condition.op, ast.And) else " | "
        return f"write {sign.join(f'({ast.unparse(value)})' for value in condition.values)}"
    if isinstance(condition, ast.UnaryOp):
        return f"write ~({ast.unparse(condition.operand)})"
    called = called_extreme(condition)
    if called and isinstance(condition, ast.Call) and len(condition.args) == 2:
        return f"write nl.{called}imum({', '.join(map(ast.unparse, condition.args))})"
    return ""


def help_for_index(condition: Condition | None) -> str:
    """Return the help for a condition on index expressions of the classic API."""
    name = called_extreme(condition)
    if name and isinstance(condition, ast.Call) and len(condition.args) == 2:
        one, two = map(ast.unparse, condition.args)
        sign = "<=" if name == "min" else ">="
        return (
            f"Python's {name} cannot clamp an index: write one instruction with the index {one} "
            f"and mask={one} {sign} {two}, and one for the other elements"
        )
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.Or):
        parts = " and one with ".join(f"mask={ast.unparse(value)}" for value in condition.values)
        return f"a mask has no or: write one instruction with {parts}"
    if isinstance(condition, (ast.If, ast.IfExp)):
        test = ast.unparse(condition.test)
        return f"write mask={test} in the instruction, or select with nl.where({test}, ..., ...)"
    return (
        "write & for and, with each comparison in parentheses, and give the condition to the "
        "instruction as mask=, or to nl.where"
    )


def operands_at(frame: FrameType | None) -> tuple[str, str] | None:
    """Return the source of the operands of the operator that a frame evaluates, if known."""
    node = None if frame is None else evaluated(frame.f_code, frame.f_lasti)
    if not isinstance(node, ast.BinOp):
        return None
    return ast.unparse(node.left), ast.unparse(node.right)


def called_extreme(condition: Condition | None) -> str:
    """Return `min` or `max` for a call of Python's function of this name; "" for other nodes."""
    function = condition.func if isinstance(condition, ast.Call) else None
    name = function.id if isinstance(function, ast.Name) else ""
    return name if name in ("min", "max") else ""


def _of_statement(condition: ast.If) -> str:
    one, other = (
        body[0] if len(body) == 1 and isinstance(body[0], ast.Assign) else None
        for body in (condition.body, condition.orelse)
    )
    if one is not None and other is not None:
        targets = {", ".join(map(ast.unparse, each.targets)) for each in (one, other)}
        if len(targets) == 1:
            return f"write {targets.pop()} = {_where(condition.test, one.value, other.value)}"
    return (
        f"compute both results, and select with nl.where({ast.unparse(condition.test)}, ..., ...)"
    )


def _where(test: ast.expr, one: ast.expr, other: ast.expr) -> str:
    return f"nl.where({', '.join(map(ast.unparse, (test, one, other)))})"
