"""Queries about an instruction's arguments."""

from __future__ import annotations

import pytest
from support.instructions import instruction_of

from nkijit.dialects.declare.queries import required_tile, tile_of
from nkijit.dialects.hardware.words import oob_mode
from nkijit.dialects.tiles import info_of

MATMUL = "nisa.nc_matmul dst=%p, stationary=%k, moving=%m"
ACTIVATION = "nisa.activation dst=%y, op=exp, data=%x"


def test_an_operand_that_has_to_be_there() -> None:
    op = instruction_of(ACTIVATION)
    assert op.required("data") is op.operand_named("data")
    assert op.operand_named("bias") is None
    with pytest.raises(LookupError, match=r"nisa.activation is without its operand 'bias'"):
        op.required("bias")


def test_an_argument_that_may_not_be_declared() -> None:
    copy = instruction_of("nisa.dma_copy dst=%y, src=%x")
    assert copy.get("oob_mode") is oob_mode.error
    assert copy.get("src") is copy.operand_named("src")
    assert copy.get("accumulate") is None
    assert copy.get("accumulate", "none") == "none"
    # Left out is not the same as not declared.
    assert instruction_of(MATMUL).get("accumulate", "none") is None
    assert instruction_of(ACTIVATION).get("bias", "none") is None


def test_declared_arguments() -> None:
    op = instruction_of(ACTIVATION)
    assert op.declares("bias")
    assert not op.declares("bias ")
    assert not op.declares("name")


def test_the_tile_of_an_operand() -> None:
    op = instruction_of(
        "%one = arith.constant 1.0 : f32", f"{ACTIVATION}, bias=%column, scale=%one"
    )
    assert required_tile(op, "data") is info_of(op.required("data"))
    assert tile_of(op, "data") is required_tile(op, "data")
    assert tile_of(op, "scale") is None
    assert tile_of(op, "reduce_res") is None
    with pytest.raises(LookupError):
        required_tile(op, "reduce_res")
