"""Texts of findings about arguments that are no operators: a description, and advice."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from nkijit.dialects.declare.kinds import operator_word
from nkijit.dialects.operators import NUMPY_NAMES, OPERATORS
from nkijit.dialects.python_values import described
from nkijit.tracing.api_names import api_name_of
from nkijit.tracing.call_arguments import argument_of
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
            got = f"the result of {ast.unparse(node)}"
            return got, f"{written} is a function, no operator: {_GENERAL}"
    function = api_name_of(value)
    if function is None:
        return described(value), hint_for(value, expected)
    got = f"the function {function.in_findings}"
    if function.is_classic != classic:
        got += f" of {function.api}"
    word = NUMPY_NAMES.get(function.name, function.name)
    if word not in OPERATORS:
        return got, f"{function.in_findings} is a function, no operator: {_GENERAL}"
    return got, f"pass nl.{word}, the operator of two operands"


_GENERAL = "pass an operator of nl itself, e.g. op=nl.add"
