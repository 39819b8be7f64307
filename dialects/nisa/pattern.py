"""Generated patterns: iota."""

from __future__ import annotations

import math

from nkijit.dialects.costs.engines import on_gpsimd
from nkijit.dialects.declare.fields import integer, integer_or_register, pairs, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import SBUF, constant_of, required_tile
from nkijit.dialects.declare.rules.operands import computable, in_buffer, not_held
from nkijit.dialects.declare.rules.shapes import pattern_fits
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.rule_texts.operands import CONSTANT_RANGE, ROUNDED_PATTERN


def _steps(op: NisaOp) -> list[tuple[int, int]]:
    """Return the pairs of step and count of a pattern, that of the partitions first."""
    partitions = required_tile(op, "dst").partitions
    pairs = [(op.value_of("channel_multiplier"), partitions), *op.value_of("pattern")]
    return [(step, count) for step, count in pairs if count > 1]


def _ends(op: NisaOp, offset: int) -> tuple[int, int]:
    """Return the smallest and the largest value of a pattern."""
    reach = [step * (count - 1) for step, count in _steps(op)]
    return offset + sum(r for r in reach if r < 0), offset + sum(r for r in reach if r > 0)


def _values(op: NisaOp, target: Target) -> Violation | None:
    offset = constant_of(op, "offset")
    if offset is None:
        return None
    for last in _ends(op, int(offset)):
        if finding := not_held(op, "dst", "a value", last):
            return finding
    return None


def _exact(op: NisaOp, target: Target) -> Violation | None:
    offset, dtype = constant_of(op, "offset"), required_tile(op, "dst").dtype
    if offset is None or not dtype.digits:
        return None
    start = int(offset)
    farthest = max(_ends(op, start), key=abs)
    multiple = math.gcd(start, *(step for step, _ in _steps(op)))
    # Multiples of a power of two are exact up to that many times the limit.
    limit = 2**dtype.digits * (multiple & -multiple)
    if abs(farthest) <= limit or dtype.cannot_hold(farthest):
        return None
    message = f"values reach {farthest}, and {dtype.name} holds integers exactly up to {limit} only"
    return Violation(message, ("dst",))


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst"),
        pattern_fits("dst"),
        computable("dst"),
        Rule(CONSTANT_RANGE, _values),
        Rule(ROUNDED_PATTERN, _exact),
    ),
    stages=(Stage("IOTA", ("dst", "offset"), on_gpsimd("dst")),),
)
class IotaOp(NisaOp):
    """`dst[p, w, z, y, x] = offset + p * channel_multiplier + w * step_w + … + x * step_x`."""

    name = "nisa.iota"

    dst = written()
    pattern = pairs()
    offset = integer_or_register(0)
    channel_multiplier = integer(0)
