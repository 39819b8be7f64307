"""Registers: register_move, register_load, register_store, and arithmetic of scalars."""

from __future__ import annotations

from nkijit.dialects.costs.engines import REGISTER_ACCESS, REGISTER_MOVE
from nkijit.dialects.declare.fields import (
    integer_or_register,
    operator,
    register,
    tile,
    written,
    written_register,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import HBM, SBUF
from nkijit.dialects.declare.rules.operands import in_buffer
from nkijit.dialects.declare.rules.shapes import one_element
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.rule_texts.operators import REGISTER_OPERATOR

REGISTER_OPERATORS = ("add", "subtract", "multiply")
"""Operators that sequencers support on registers."""


@instruction(
    engines=(engine.sync,),
    rules=(),
    stages=(Stage("REGISTER_MOVE", ("dst", "src"), REGISTER_MOVE),),
)
class RegisterMoveOp(NisaOp):
    """`dst = src`, a 32-bit integer or another register."""

    name = "nisa.register_move"

    dst = written_register()
    src = integer_or_register()


@instruction(
    engines=(engine.sync,),
    rules=(in_buffer((*HBM, SBUF), "src"), one_element("src")),
    stages=(Stage("REGISTER_LOAD", ("dst", "src"), REGISTER_ACCESS),),
)
class RegisterLoadOp(NisaOp):
    """`dst = src[0]`, an integer, or the bits of any other type."""

    name = "nisa.register_load"

    dst = written_register()
    src = tile()


@instruction(
    engines=(engine.sync,),
    rules=(in_buffer((*HBM, SBUF), "dst"), one_element("dst")),
    stages=(Stage("REGISTER_STORE", ("dst", "src"), REGISTER_ACCESS),),
)
class RegisterStoreOp(NisaOp):
    """`dst[0] = src`, the low bits of a register."""

    name = "nisa.register_store"

    dst = written()
    src = register()


def _register_operator(op: NisaOp, target: Target) -> Violation | None:
    word = op.value_of("op")
    return None if word in REGISTER_OPERATORS else Violation(f"'op' is nl.{word}")


@instruction(
    engines=(engine.sync,),
    rules=(Rule(REGISTER_OPERATOR, _register_operator),),
    stages=(Stage("REGISTER_COMPUTE", ("dst", "data1", "data2"), REGISTER_MOVE),),
)
class RegisterComputeOp(NisaOp):
    """`dst = data1 op data2` on 32-bit integers, which wrap around.

    Not a function of `nki.isa`: the arithmetic of `nki.isa.NkiScalar` uses it.
    """

    name = "nisa.register_compute"

    dst = written_register()
    data1 = integer_or_register()
    data2 = integer_or_register()
    op = operator()
