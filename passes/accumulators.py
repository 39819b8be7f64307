"""What an instruction does with its engine's accumulators: asked by verifier and interpreter."""

from __future__ import annotations

from typing import cast

from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import reduce_cmd


def accumulator_command(op: NisaOp) -> reduce_cmd:
    """The command of an instruction that has accumulators, given or implied."""
    use = op.SPEC.accumulators
    assert use is not None
    return cast(reduce_cmd, use.command or op.value_of("reduce_cmd"))


def accumulator_operator(op: NisaOp) -> str | None:
    """The reduction operator of an instruction that has accumulators, given or implied."""
    use = op.SPEC.accumulators
    assert use is not None
    return use.operator or op.value_of("reduce_op")
