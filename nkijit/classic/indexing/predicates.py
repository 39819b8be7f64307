"""Affine expressions and predicates as arguments of GpSimd Engine instructions."""

from __future__ import annotations

from nkijit import isa
from nkijit.classic.indexing.expressions import Constraint, Index, Mask, Relation
from nkijit.tracing.operators import operator_named
from nkijit.tracing.tensor import NkiTensor


def pattern_of(expr: Index) -> tuple[list[list[int]], int]:
    """Return the [step, count] pairs of an expression's free dimensions, and its partition step."""
    steps = [[c, n] for c, n in zip(expr.coefficients[1:], expr.shape[1:], strict=True)]
    return steps, expr.coefficients[0]


def select(dst: NkiTensor, pred: Mask, on_true_tile: NkiTensor, on_false_value: float) -> None:
    """Write a tile where a predicate holds, else a number: one instruction per comparison."""
    always = Constraint(Index(dst.shape, (0,) * dst.ndim, 0), Relation.zero)
    source = on_true_tile
    for constraint in pred.constraints or (always,):
        pattern, channel_multiplier = pattern_of(constraint.expression)
        isa.affine_select(
            dst,
            pattern,
            channel_multiplier,
            source,
            on_false_value,
            cmp_op=operator_named(constraint.relation.value),
            offset=constraint.expression.constant,
        )
        source = dst
