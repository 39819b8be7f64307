"""Chains of element-wise stages: what the Vector and Scalar Engines run over a tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.binding import Binding, Compute, Source, Step
from nkijit.passes.interpret.functions import BINARY, UNARY

Stage = tuple[Compute, list[Source]]
"""A function `f(x, *operands, out)` and its operands."""


def operator_stage(word: str, operand: Source | None, reverse: bool = False) -> Stage:
    """An ALU operator as a stage: `x op operand`, or `operand op x` when reversed."""
    alu = OPERATORS[word].alu
    assert alu is not None
    if alu.arity == 1 or operand is None:
        return UNARY[word], []
    function = BINARY[word]
    if not reverse:
        return function, [operand]

    def reversed_function(x: Any, y: Any, out: Any) -> None:
        function(y, x, out)

    return reversed_function, [operand]


def chain(b: Binding, data: Source, stages: Sequence[Stage], name: str = "dst") -> tuple[Step, int]:
    """Run the stages over `data`, in float32, and round the result into tile `name` once.

    Returns the step and the slot with the float32 results.
    """
    sources = [data, *(source for _, operands in stages for source in operands)]
    if len(stages) == 1:
        return b.compute(stages[0][0], sources, name, early=len(sources))
    early = 1 + len(stages[0][1])
    functions = tuple((function, len(operands)) for function, operands in stages)
    if [count for _, count in functions] == [1, 1]:
        (first, _), (second, _) = functions

        def two(x: Any, y: Any, z: Any, out: Any) -> None:
            first(x, y, out)
            second(out, z, out)

        return b.compute(two, sources, name, early=early)

    def run(x: Any, *rest: Any) -> None:
        out = rest[-1]
        position = 0
        for function, count in functions:
            function(x, *rest[position : position + count], out)
            position += count
            x = out

    return b.compute(run, sources, name, early=early)
