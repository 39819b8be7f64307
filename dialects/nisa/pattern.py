"""Generated patterns: iota."""

from __future__ import annotations

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
from nkijit.dialects.rule_texts.operands import CONSTANT_RANGE


def _values(op: NisaOp, target: Target) -> Violation | None:
    offset, dst = constant_of(op, "offset"), required_tile(op, "dst")
    if offset is None:
        return None
    steps = [(op.value_of("channel_multiplier"), dst.partitions), *op.value_of("pattern")]
    reach = [step * (count - 1) for step, count in steps if count > 0]
    for last in (offset + sum(r for r in reach if r < 0), offset + sum(r for r in reach if r > 0)):
        if finding := not_held(op, "dst", "a value", last):
            return finding
    return None


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst"),
        pattern_fits("dst"),
        computable("dst"),
        Rule(CONSTANT_RANGE, _values),
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
