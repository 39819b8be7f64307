"""Mean and variance along the free dimensions: bn_stats and bn_aggr."""

from __future__ import annotations

from nkijit.dialects.costs.engines import streaming
from nkijit.dialects.declare.fields import tile, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP, required_tile
from nkijit.dialects.declare.rules.operands import computable, in_buffer
from nkijit.dialects.declare.rules.shapes import partitions_match
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.rule_texts.shapes import STATISTICS_SHAPE
from nkijit.dialects.spelling import numbered

TRIPLE = 3
"""Number of elements of a (count, mean, variance * count) triple."""


def _results(count: int) -> Rule:
    """Return the rule that `dst` has `count` elements per partition, one per result."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        dst = required_tile(op, "dst")
        if dst.free_size == count:
            return None
        return Violation(
            f"'dst' must have {numbered(count, 'element')} per partition, it has {dst.free_size}",
            ("dst",),
        )

    return Rule(STATISTICS_SHAPE, check)


def _at_most_fmax(op: NisaOp, target: Target) -> Violation | None:
    data = required_tile(op, "data")
    if data.free_size <= target.bn_stats_fmax:
        return None
    return Violation(
        f"'data' has {numbered(data.free_size, 'element')} per partition, at most "
        f"{target.bn_stats_fmax} are "
        "possible",
        ("data",),
    )


def _triples(op: NisaOp, target: Target) -> Violation | None:
    data = required_tile(op, "data")
    if data.free_size % TRIPLE == 0:
        return None
    return Violation(
        f"'data' has {numbered(data.free_size, 'element')} per partition, which are not triples",
        ("data",),
    )


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data"),
        partitions_match("data", "dst"),
        Rule(STATISTICS_SHAPE, _at_most_fmax),
        _results(2 * TRIPLE),
        computable("dst", "data"),
    ),
    stages=(Stage("BN_STATS", ("dst", "data"), streaming("data")),),
    per_partition=True,
)
class BnStatsOp(NisaOp):
    """`dst` is (count, mean, variance * count) of even-indexed, then of odd-indexed elements."""

    name = "nisa.bn_stats"

    dst = written()
    data = tile()


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data"),
        partitions_match("data", "dst"),
        Rule(STATISTICS_SHAPE, _triples),
        _results(2),
        computable("dst", "data"),
    ),
    stages=(Stage("BN_AGGR", ("dst", "data"), streaming("data", "bn_aggr_cycles_per_element")),),
    per_partition=True,
)
class BnAggrOp(NisaOp):
    """`dst` is (mean, variance) of all elements that the triples of `data` describe."""

    name = "nisa.bn_aggr"

    dst = written()
    data = tile()
