"""Formulas of the cost model: each computes a number for an instruction, and has a text."""

from __future__ import annotations

from collections.abc import Callable

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target

Number = Callable[[NisaOp, Target], float]

_ATOM, _PRODUCT, _SUM = range(3)
"""Levels of formulas by the precedence of their operators, the highest first."""


class Formula:
    """A formula: a function that computes a number for an instruction on a target, and its text.

    `*`, `/` and `+` combine formulas. A `note` explains when a term has another value; notes are
    printed after the whole formula.

    Example: `str(Formula("N", n) / Formula("rate", rate, note="fast for bfloat16"))` is
    "N / rate, fast for bfloat16".
    """

    def __init__(self, text: str, value: Number, *, note: str = "", level: int = _ATOM):
        self._text = text
        self._value = value
        self._notes: tuple[str, ...] = (note,) if note else ()
        self._level = level

    def __call__(self, op: NisaOp, target: Target) -> float:
        return self._value(op, target)

    def __str__(self) -> str:
        return ", ".join((self._text, *self._notes))

    def __mul__(self, other: Formula) -> Formula:
        text = f"{self._inside(_PRODUCT)} {other._inside(_PRODUCT)}"
        return self._joined(other, text, _PRODUCT, lambda a, b: a * b)

    def __truediv__(self, other: Formula) -> Formula:
        text = f"{self._inside(_PRODUCT)} / {other._inside(_ATOM)}"
        return self._joined(other, text, _PRODUCT, lambda a, b: a / b)

    def __add__(self, other: Formula) -> Formula:
        text = f"{self._inside(_SUM)} + {other._inside(_SUM)}"
        return self._joined(other, text, _SUM, lambda a, b: a + b)

    def _inside(self, level: int) -> str:
        """Return the text, in parentheses if its operator's precedence is below `level`."""
        return f"({self._text})" if self._level > level else self._text

    def _joined(
        self, other: Formula, text: str, level: int, join: Callable[[float, float], float]
    ) -> Formula:
        def value(op: NisaOp, target: Target) -> float:
            return join(self._value(op, target), other._value(op, target))

        made = Formula(text, value, level=level)
        made._notes = tuple(dict.fromkeys((*self._notes, *other._notes)))
        return made


def largest(one: Formula, two: Formula) -> Formula:
    """Return the formula of the larger of two numbers."""
    return one._joined(two, f"max({one._text}, {two._text})", _ATOM, max)  # pyright: ignore[reportPrivateUsage]
