"""Loops on the device, as traced: their conditions, and whether they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.passes.analysis.ranges import constant_range


def condition_of(loop: WhileOp) -> SSAValue:
    """What says whether a loop goes on."""
    return cast(ConditionOp, loop.before_region.block.last_op).condition


def compared(loop: WhileOp) -> Sequence[SSAValue]:
    """The values that the condition of a loop is made of."""
    test = condition_of(loop).owner
    return list(test.operands) if isinstance(test, Operation) else []


def surely_runs(loop: ForOp | WhileOp) -> bool:
    """True when it is known that a loop runs at least once."""
    return isinstance(loop, ForOp) and bool(constant_range(loop))
