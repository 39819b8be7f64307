"""Generated patterns: iota."""

from __future__ import annotations

from nkijit.dialects.costs.engines import on_gpsimd
from nkijit.dialects.declare.fields import integer, integer_or_register, pairs, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import SBUF
from nkijit.dialects.declare.rules.operands import computable, in_buffer
from nkijit.dialects.declare.rules.shapes import pattern_fits
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.hardware.words import engine


@instruction(
    engines=(engine.gpsimd,),
    rules=(in_buffer((SBUF,), "dst"), pattern_fits("dst"), computable("dst")),
    stages=(Stage("IOTA", ("dst", "offset"), on_gpsimd("dst")),),
)
class IotaOp(NisaOp):
    """`dst[p, w, z, y, x] = offset + p * channel_multiplier + w * step_w + … + x * step_x`."""

    name = "nisa.iota"

    dst = written()
    """(P, …) tile in SBUF."""
    pattern = pairs()
    """one to four [step, count] pairs; their counts' product is the number of elements per
    partition."""
    offset = integer_or_register(0)
    """int32 added to every value."""
    channel_multiplier = integer(0)
    """int32 multiplied with the partition index p."""
