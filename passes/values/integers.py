"""Integers that an instruction of a run has rounded to float32."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.declare.operation import NisaOp, is_instruction, scalar_constant
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.integers import IntegerArithmetic, integer_arithmetic
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.spelling import counted
from nkijit.passes.numerics.operators import INTEGER
from nkijit.passes.values.instructions import Array, short_place
from nkijit.passes.values.items import RecordedForm, RecordedInstruction, RecordedOperand
from nkijit.passes.values.search import headline, operands_at


@dataclass(frozen=True, slots=True)
class RoundedIntegers:
    """The rounded results of one instruction of a source line; `print` shows them."""

    instruction: RecordedInstruction
    """The first execution that rounded a result."""
    operand: RecordedOperand
    """The operand that the instruction wrote."""
    index: tuple[int, ...]
    """The index of the first rounded element of the operand."""
    exact: int
    """The value of the element `index` in exact arithmetic."""
    rounded: int
    """The value that the instruction wrote."""
    count: int
    """The number of rounded elements in all executions of the line."""
    total: int
    """The number of elements that all executions of the line wrote."""

    @staticmethod
    def first(
        instruction: RecordedInstruction, wrong: npt.NDArray[np.bool_], exact: Array
    ) -> RoundedIntegers:
        """Return the rounded results of one execution.

        Args:
            instruction: the execution.
            wrong: True for the rounded elements of its result, at least one.
            exact: the exact results.
        """
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        operand = instruction.operands[0]
        value, rounded = int(exact[index]), int(operand.after[index])
        return RoundedIntegers(
            instruction, operand, index, value, rounded, int(wrong.sum()), wrong.size
        )

    def __str__(self) -> str:
        lines = headline(self.instruction, f"{self.instruction.op} rounded integers: {self._first}")
        lines.append(f"  {self._amount}")
        lines += [f"  {each}" for each in operands_at(self.instruction, self.operand, self.index)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<rounded {counted(self.count, 'integer')}: {self.instruction!r}>"

    @property
    def line(self) -> str:
        """A line of text: source line, first rounded element, number of rounded elements."""
        return f"{short_place(self.instruction.location)}: {self._first}; {self._amount}"

    @property
    def _first(self) -> str:
        element = f"{self.operand.tile}{list(self.index)}"
        return f"{element} is {self.rounded}, exact is {self.exact}"

    @property
    def _amount(self) -> str:
        return f"{self.count:,} of {counted(self.total, 'element')} are rounded"


def rounding_forms(forms: Iterable[RecordedForm], target: Target) -> dict[int, IntegerArithmetic]:
    """Return the arithmetic of forms that compute integers in float32, by position in `forms`."""
    found: dict[int, IntegerArithmetic] = {}
    for number, form in enumerate(forms):
        if not is_instruction(form.op):
            continue
        arithmetic = integer_arithmetic(form.op, target)
        if arithmetic is not None and arithmetic.rounds:
            found[number] = arithmetic
    return found


def rounded_elements(
    instruction: RecordedInstruction, arithmetic: IntegerArithmetic
) -> tuple[npt.NDArray[np.bool_], Array] | None:
    """Return a mask of the elements that differ from exact arithmetic, and the exact results.

    An exact result that the data type cannot hold does not count: it is out of range, not rounded.
    None for operators without an exact result.
    """
    written = instruction.result
    op = instruction.operation
    assert isinstance(op, NisaOp)
    read = {operand.value: operand.before for operand in instruction.operands if operand.is_read}
    exact = _Exact(arithmetic, read).result(written.shape)
    if exact is None:
        return None
    values, known = exact
    limits = np.iinfo(written.dtype)
    held = known & (values >= limits.min) & (values <= limits.max)
    return held & (values != written.astype(np.int64)), values


_Pair = tuple[Array, Array]
"""Numbers as int64, and as float64 to detect the overflow of int64."""

_UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0),
    "square": np.square,
}
_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "add": np.sum,
    "multiply": np.prod,
}
_LARGEST = 2.0**62


class _Exact:
    """The evaluation of integer arithmetic without rounding."""

    def __init__(self, arithmetic: IntegerArithmetic, read: Mapping[SSAValue, Array]):
        self._arithmetic, self._read = arithmetic, read
        self._inside: Any = True
        """False for elements with an intermediate result that overflows int64."""

    def result(self, shape: tuple[int, ...]) -> tuple[Array, npt.NDArray[np.bool_]] | None:
        """Return the exact results in a shape, and a mask of the elements with a known result."""
        value = self._operand(self._arithmetic.first)
        with np.errstate(all="ignore"):
            for step in self._arithmetic.steps:
                applied = self._applied(step.word, value, step.other, reverse=step.reverse)
                if applied is None:
                    return None
                value = self._checked(applied)
            if self._arithmetic.reduced is not None:
                reduce = _REDUCTIONS.get(self._arithmetic.reduced)
                if reduce is None:
                    return None
                rows = [part.reshape(-1, self._arithmetic.terms) for part in value]
                value = self._checked((reduce(rows[0], axis=1), reduce(rows[1], axis=1)))
        known = np.broadcast_to(self._inside, value[0].shape)
        return value[0].reshape(shape), known.reshape(shape)

    def _operand(self, value: SSAValue) -> _Pair:
        number = scalar_constant(value)
        if number is not None:
            return np.array(int(number)), np.array(float(number))
        # Operands and results have the same elements per partition, in any shape.
        values = self._read[value].reshape(self._read[value].shape[0], -1)
        return values.astype(np.int64), values.astype(np.float64)

    def _applied(
        self, word: str, value: _Pair, other: SSAValue | None, *, reverse: bool
    ) -> _Pair | None:
        alu = OPERATORS[word].alu
        if alu is not None and alu.arity == 1:
            unary = _UNARY.get(word)
            return None if unary is None else (unary(value[0]), unary(value[1]))
        binary = INTEGER.get(word)
        if binary is None or other is None:
            return None
        second = self._operand(other)
        one, two = (second, value) if reverse else (value, second)
        return (
            np.asarray(binary(one[0], two[0])).astype(np.int64),
            np.asarray(binary(one[1], two[1])).astype(np.float64),
        )

    def _checked(self, value: _Pair) -> _Pair:
        inside = np.abs(value[1]) < _LARGEST
        self._inside = inside if inside.shape != np.shape(self._inside) else self._inside & inside
        return value
