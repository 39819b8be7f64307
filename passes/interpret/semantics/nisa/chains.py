"""Stages of the chains that the Vector and Scalar Engines apply to a tile."""

from __future__ import annotations

from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.records.records import Applied, Source


def applied(word: str, operand: Source | None, reverse: bool = False) -> Applied:
    """Return an ALU operator as a stage. Unary operators ignore `operand`."""
    alu = OPERATORS[word].alu
    assert alu is not None
    return Applied(word) if alu.arity == 1 else Applied(word, operand, reverse)
