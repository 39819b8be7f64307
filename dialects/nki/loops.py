"""Loops on the device: the numbers that say how often one runs.

A loop is `scf.for`, which counts, or `scf.while`, which goes on while two numbers differ.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import SSAValue

from nkijit.dialects.nki.registers import ReadRegisterOp


def condition_of(loop: WhileOp) -> SSAValue:
    """What says whether a loop goes on."""
    return cast(ConditionOp, loop.before_region.block.last_op).condition


def compared(loop: WhileOp) -> tuple[SSAValue, SSAValue] | None:
    """The two numbers that differ while a loop goes on; None when its condition is none of ours."""
    test = condition_of(loop).owner
    return (test.lhs, test.rhs) if isinstance(test, CmpiOp) else None


def controls(loop: ForOp | WhileOp) -> dict[str, SSAValue]:
    """The numbers that say how often a loop runs, by name."""
    if isinstance(loop, ForOp):
        return {"lower": loop.lb, "upper": loop.ub, "step": loop.step}
    return dict(zip(("left", "right"), compared(loop) or (), strict=False))


def storage_of(number: SSAValue) -> SSAValue:
    """The register that a number has been read from, or the number when it comes from none."""
    owner = number.owner
    return owner.source if isinstance(owner, ReadRegisterOp) else number
