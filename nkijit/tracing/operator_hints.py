"""Texts of findings about arguments that are no operators: a description, and advice."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from nkijit.dialects.declare.kinds import operator_word
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.other_names import SYNONYMS, operator_meant
from nkijit.dialects.python_values import described
from nkijit.tracing.api_names import ApiName, api_name_of, parameters_of
from nkijit.tracing.call_arguments import argument_of
from nkijit.tracing.dtype_names import CURRENT
from nkijit.tracing.hints import hint_for
from nkijit.tracing.locations import value_of


def operator_texts(
    name: str, value: Any, expected: str, frame: FrameType | None, *, classic: bool
) -> tuple[str, str]:
    """Return a description of the argument, and advice on the operator to pass instead.

    Args:
        name: the name of the parameter.
        value: the argument, which is no operator.
        expected: the expected kind, as in the message.
        frame: the frame of the user's code that calls the instruction.
        classic: whether the kernel is of the classic API.
    """
    node = argument_of(frame, name)
    if frame is not None and isinstance(node, ast.Call):
        called = value_of(node.func, frame)
        written = ast.unparse(node.func)
        if operator_word(called) in OPERATORS:
            return (
                f"the result of {ast.unparse(node)}",
                f"{ast.unparse(node)} was called here; pass {written}",
            )
        function = api_name_of(called)
        if function is not None:
            return f"the result of {ast.unparse(node)}", _function_advice(function, written)
    function = api_name_of(value)
    if isinstance(value, str):
        called_so = ApiName(CURRENT, "nl", SYNONYMS.get(value, value))
        is_function = callable(called_so.value) and not operator_meant(value, OPERATORS)
        if is_function and not isinstance(called_so.value, type):
            return described(value), _function_advice(called_so)
    if function is None:
        return described(value), hint_for(value, expected)
    got = f"the function {function.in_findings}"
    if function.is_classic != classic:
        got += f" of {function.api}"
    word = operator_meant(function.name, OPERATORS)
    if not word:
        return got, _function_advice(function)
    return got, f"pass nl.{word}, the operator of two operands"


def _function_advice(function: ApiName, written: str = "") -> str:
    """Return the advice for a function of the API in the place of an operator.

    Args:
        function: the function.
        written: its name in the kernel, by default its name in findings.
    """
    name = written or function.in_findings
    if function.in_findings == "nl.divide":
        return (
            f"{name} is a function, no operator: write u = {name}(a, b), or multiply by the "
            "reciprocal, with op=nl.multiply and nisa.reciprocal (1 / b for a number)"
        )
    takes = [p.name for p in parameters_of(function.value) if p.default is p.empty]
    if function.short == "nl" and takes[:1] == ["x"]:
        operands = {1: "t", 2: "a, b"}.get(len(takes), ", ".join(takes))
        return f"{name} is a function, no operator: write u = {name}({operands})"
    return f"{name} is a function, no operator: pass an operator of nl itself, e.g. op=nl.add"
