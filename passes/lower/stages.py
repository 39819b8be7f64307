"""The stages of an NKI instruction: the engine instructions that it becomes."""

from __future__ import annotations

from functools import cache

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.effects import Effect


@cache
def main_stage(instruction: type[NisaOp]) -> int:
    """The last stage that always runs: it has the compile-time arguments and the name."""
    return max(i for i, stage in enumerate(instruction.SPEC.stages) if stage.when is None)


def stages_that_run(op: NisaOp) -> tuple[tuple[int, Stage], ...]:
    """The stages of an instruction with the operands that it has, each with its number."""
    return tuple(
        (number, stage)
        for number, stage in enumerate(op.SPEC.stages)
        if stage.when is None or op.operand_named(stage.when) is not None
    )


def field_of(effect: Effect) -> str:
    """The field that an effect belongs to: reading an index is one of the tile it places."""
    return effect.name.removeprefix("index of ")
