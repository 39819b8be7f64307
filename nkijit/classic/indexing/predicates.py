"""Affine expressions and predicates as arguments of GpSimd Engine instructions."""

from __future__ import annotations

from nkijit import isa
from nkijit.classic.indexing.expressions import Constraint, Index, Mask, Relation
from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.language.composites import where_into
from nkijit.language.tiles import in_sbuf, temporary
from nkijit.tracing.operators import operator_named
from nkijit.tracing.tensor import NkiTensor


def pattern_of(expr: Index) -> tuple[list[list[int]], int]:
    """Return an expression's [step, count] pairs of the free dimensions, and its partition step."""
    steps = [[c, n] for c, n in zip(expr.coefficients[1:], expr.shape[1:], strict=True)]
    return steps, expr.coefficients[0]


def select(dst: NkiTensor, pred: Mask, on_true_tile: NkiTensor, on_false_value: float) -> None:
    """Write `on_true_tile` where a predicate holds, else a number.

    Each comparison of the predicate takes one instruction.
    """
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


def fill_truth(dst: NkiTensor, pred: Mask) -> None:
    """Write 1 where a predicate holds, else 0."""
    isa.memset(dst, 1)
    if pred.constraints:
        select(dst, pred, dst, 0.0)


def choose(dst: NkiTensor, condition: Mask, x: NkiTensor | float, y: NkiTensor | float) -> None:
    """Write `x` where a predicate holds, else `y`.

    A selection between a float tile and a number is one instruction per comparison. Other
    selections first write the predicate to a tile, because the number of `nisa.affine_select` is a
    float32, and its value for false is never a tile.
    """
    if isinstance(x, NkiTensor) and not isinstance(y, NkiTensor):
        whole = (x.shape, x.dtype) == (dst.shape, dst.dtype)
        if whole and DTYPES[dst.dtype].kind is Kind.float:
            select(dst, condition, in_sbuf(x), y)
            return
    truth = temporary("condition", dst.shape, "uint8")
    fill_truth(truth, condition)
    where_into(dst, truth, x, y)
