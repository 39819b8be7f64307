"""Generated patterns: iota."""

from __future__ import annotations

from nkijit.dialects.constraints import SBUF, computable, in_buffer, pattern_fits
from nkijit.dialects.declare import NisaOp, Stage, instruction
from nkijit.dialects.engine_costs import on_gpsimd
from nkijit.dialects.fields import integer, integer_or_register, pairs, written
from nkijit.dialects.hardware import engine


@instruction(
    engines=(engine.gpsimd,),
    rules=(in_buffer((SBUF,), "dst"), pattern_fits("dst"), computable("dst")),
    stages=(Stage("IOTA", ("dst", "offset"), on_gpsimd("dst")),),
)
class IotaOp(NisaOp):
    """`dst[p, w, z, y, x] = offset + p * channel_multiplier + w * step_w + … + x * step_x`."""

    name = "nisa.iota"

    dst = written()
    pattern = pairs()
    offset = integer_or_register(0)
    channel_multiplier = integer(0)
