"""Generated patterns: iota."""

from __future__ import annotations

import math

from nkijit.dialects.constraints import SBUF, computable, in_buffer, tile_of
from nkijit.dialects.declare import Finding, NisaOp, Rule, Stage, instruction
from nkijit.dialects.fields import integer, pairs, written
from nkijit.dialects.hardware import Target, engine
from nkijit.dialects.rule_texts import PATTERN

MAX_PATTERN_DIMS = 4
"""Dimensions of a generated pattern."""


def _pattern(op: NisaOp, target: Target) -> Finding | None:
    pattern, dst = op.value_of("pattern"), tile_of(op, "dst")
    if not 1 <= len(pattern) <= MAX_PATTERN_DIMS:
        return Finding(f"'pattern' has {len(pattern)} pairs, 1 to {MAX_PATTERN_DIMS} are possible")
    counts = [count for _, count in pattern]
    if min(counts) < 1:
        return Finding(f"'pattern' has counts {counts}, each must be positive")
    if dst is None or math.prod(counts) == dst.free_size:
        return None
    return Finding(
        f"'pattern' has {math.prod(counts)} elements, 'dst' has {dst.free_size} per partition",
        ("dst",),
    )


@instruction(
    engines=(engine.gpsimd,),
    rules=(in_buffer((SBUF,), "dst"), Rule(PATTERN, _pattern), computable("dst")),
    stages=(Stage("IOTA", ("dst",)),),
)
class IotaOp(NisaOp):
    """`dst[p, w, z, y, x] = offset + p * channel_multiplier + w * step_w + … + x * step_x`."""

    name = "nisa.iota"

    dst = written()
    pattern = pairs()
    offset = integer(0)
    channel_multiplier = integer(0)
