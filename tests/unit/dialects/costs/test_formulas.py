"""Formulas of costs print the expression that they compute."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from nkijit.dialects.costs.formulas import Formula, largest

VALUES = {"a": 3.0, "b": 5.0, "c": 7.0, "d": 11.0}
NOTHING = cast(Any, None)


def variable(name: str, note: str = "") -> Formula:
    return Formula(name, lambda op, target: VALUES[name], note=note)


a, b, c, d = map(variable, VALUES)

FORMULAS = {
    "a / b": a / b,
    "a b / c": a * b / c,
    "(a + b) c": (a + b) * c,
    "a + b c": a + b * c,
    "a / (b c)": a / (b * c),
    "a / b c": a / b * c,
    "a (b + c) / (d + a)": a * (b + c) / (d + a),
    "max(a, b + c) d": largest(a, b + c) * d,
}


@pytest.mark.parametrize("text", FORMULAS)
def test_the_text_equals_the_computed_formula(text: str) -> None:
    formula = FORMULAS[text]
    assert str(formula) == text
    # Two factors side by side are a product.
    python = re.sub(r"([\w)]) (?=[\w(])", r"\1 * ", text)
    assert formula(NOTHING, NOTHING) == eval(python, {"max": max}, VALUES)


def test_notes_follow_the_whole_formula_and_are_there_once() -> None:
    fast = variable("b", "fast for bfloat16")
    assert str(largest(a, c / fast) + d * fast) == "max(a, c / b) + d b, fast for bfloat16"
