"""Registers: register_move, register_load, register_store."""

from __future__ import annotations

from nkijit.dialects.costs.engines import REGISTER_ACCESS, REGISTER_MOVE
from nkijit.dialects.declare.fields import (
    integer_or_register,
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
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.hardware.words import engine


@instruction(
    engines=(engine.sync,),
    rules=(),
    stages=(Stage("REGISTER_MOVE", ("dst", "src"), REGISTER_MOVE),),
)
class RegisterMoveOp(NisaOp):
    """`dst = src`, a 32-bit integer or another register."""

    name = "nisa.register_move"

    dst = written_register()
    """the register; not the induction variable of a loop."""
    src = integer_or_register()
    """an integer that fits 32 bits, with a sign, or another register."""


@instruction(
    engines=(engine.sync,),
    rules=(in_buffer((*HBM, SBUF), "src"), one_element("src")),
    stages=(Stage("REGISTER_LOAD", ("dst", "src"), REGISTER_ACCESS),),
)
class RegisterLoadOp(NisaOp):
    """`dst = src[0]`, an integer, or the bits of any other type."""

    name = "nisa.register_load"

    dst = written_register()
    """the register."""
    src = tile()
    """tensor of one element in SBUF or HBM. Integers keep their value, the bits of any other type
    are loaded as they are."""


@instruction(
    engines=(engine.sync,),
    rules=(in_buffer((*HBM, SBUF), "dst"), one_element("dst")),
    stages=(Stage("REGISTER_STORE", ("dst", "src"), REGISTER_ACCESS),),
)
class RegisterStoreOp(NisaOp):
    """`dst[0] = src`, the low bits of a register."""

    name = "nisa.register_store"

    dst = written()
    """tensor of one element in SBUF or HBM; an integer type shorter than 32 bits keeps the low
    bits, any other type the bits as they are."""
    src = register()
    """the register."""
