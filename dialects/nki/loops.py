"""Loops on the device: the values that control the number of iterations.

A loop is `scf.for`, which counts, or `scf.while`, which runs while two numbers differ.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import scalar_constant
from nkijit.dialects.nki.registers import ReadRegisterOp


def condition_of(loop: WhileOp) -> SSAValue:
    """Return the terminator's operand: the loop runs again if this is true."""
    return cast(ConditionOp, loop.before_region.block.last_op).condition


def compared(loop: WhileOp) -> tuple[SSAValue, SSAValue] | None:
    """Return the two numbers that a loop compares; None if its condition is not an `arith.cmpi`."""
    test = condition_of(loop).owner
    return (test.lhs, test.rhs) if isinstance(test, CmpiOp) else None


def bounds_of(loop: ForOp) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return the lower bound, the upper bound and the step of a loop."""
    # xDSL's own access by name takes ten times as long.
    lower, upper, step, *_ = operand_tuple(loop)
    return lower, upper, step


def controls(loop: ForOp | WhileOp) -> dict[str, SSAValue]:
    """Return the values that control the number of iterations of a loop, by name."""
    if isinstance(loop, ForOp):
        return dict(zip(("lower", "upper", "step"), bounds_of(loop), strict=True))
    return dict(zip(("left", "right"), compared(loop) or (), strict=False))


def verify_step(step: SSAValue) -> None:
    """Raise VerifyException for a step that is constant and not positive.

    MLIR requires a positive step of `scf.for` (https://mlir.llvm.org/docs/Dialects/SCFDialect/), as
    the loop would not end otherwise. A step in a register is checked when the loop begins.
    """
    constant = scalar_constant(step)
    if constant is not None and constant < 1:
        raise VerifyException(f"the step of a loop is at least 1, it is {constant}")


def storage_of(number: SSAValue) -> SSAValue:
    """Return the register that a number was read from; else the number itself."""
    owner = number.owner
    return owner.source if isinstance(owner, ReadRegisterOp) else number
