"""Editors and notebooks: completion, and documentation at the pointer."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
from types import ModuleType

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
import nkijit.testing
from nkijit import collectives
from nkijit.dialects.operators import OPERATORS
from nkijit.language import buffers, dtypes
from nkijit.tracing import operators


def documented(module: ModuleType) -> dict[str, str]:
    """The strings below assignments, which editors show for a name."""
    body = ast.parse(inspect.getsource(module)).body
    found: dict[str, str] = {}
    for one, two in itertools.pairwise(body):
        if (
            isinstance(one, ast.Assign)
            and isinstance(one.targets[0], ast.Name)
            and isinstance(two, ast.Expr)
            and isinstance(two.value, ast.Constant)
            and isinstance(two.value.value, str)
        ):
            found[one.targets[0].id] = two.value.value
    return found


@pytest.mark.parametrize("module", [operators, dtypes, buffers])
def test_names_that_are_no_functions_are_documented(module: ModuleType):
    words = {name for name in module.__all__ if not inspect.isfunction(getattr(module, name))}
    assert words <= set(documented(module))


def number(text: str) -> float:
    return eval(text, {"pi": math.pi})


@pytest.mark.parametrize("name", OPERATORS)
def test_documentation_of_operators_equals_their_properties(name: str):
    text, entry = documented(operators)[name], OPERATORS[name]
    function = entry.activation
    stated = re.search(r"(?:from|takes angles from) (\S+) to ([^\s;.]+)", text)
    if function is None or math.isinf(function.low):
        assert stated is None
    else:
        assert stated is not None
        assert (number(stated[1]), number(stated[2])) == (function.low, function.high)
    newer = entry.alu is not None and entry.alu.since.value == 4
    assert ("NeuronCore-v4" in text) == newer
    callable_ = isinstance(getattr(nl, name), (operators.UnaryOperator, operators.BinaryOperator))
    only = "argument of instructions only" in text or name in ("bypass", "average", "prelu")
    assert callable_ != only


@pytest.mark.parametrize("module", [nki, nisa, nl, collectives, nkijit.testing])
def test_modules_complete_their_public_names(module: ModuleType):
    assert dir(module) == sorted(module.__all__)
    for name in dir(module):
        getattr(module, name)


def test_tiles_complete_the_members_of_the_reference():
    seen: list[str] = []

    @nki.jit
    def kernel(x):
        seen.extend(dir(x))
        return x

    kernel.trace(nki.TensorSpec((128, 4), "float32"))
    assert not [name for name in seen if name.startswith("_")]
    assert {"ap", "buffer", "dtype", "permute", "reshape", "shape"} <= set(seen)
    assert not {"storage", "ssa_value"} & set(seen)


@pytest.mark.parametrize("module", [nisa, nl, collectives])
def test_no_parameter_is_any_where_there_is_a_type(module: ModuleType):
    loose = [
        f"{name}({parameter.name})"
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        for parameter in inspect.signature(function).parameters.values()
        if parameter.annotation in (parameter.empty, "Any")
    ]
    assert loose == []
