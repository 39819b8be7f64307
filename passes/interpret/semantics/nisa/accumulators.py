"""The use of an engine's accumulators around a computation."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.passes.analysis.flow.accumulators import (
    accumulator_command,
    accumulator_lanes,
    accumulator_operator,
)
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import AccumulatorUse, Source
from nkijit.passes.numerics.operators import IDENTITY


def registers_of(b: Binding) -> Source:
    """Return an instruction's accumulators: the lanes of its engine's registers, float32 (P, 1)."""
    use = b.op.SPEC.accumulators
    assert use is not None
    lanes = b.target.pmax
    slot = b.slots.state(
        f"accumulators of {use.engine.name}",
        lambda: np.full((lanes, 1), np.nan, np.float32),
    )
    return Source(slot, lanes=accumulator_lanes(b.op))


def start_of(b: Binding) -> Source | float | None:
    """Return the value that the registers are first set to; None keeps their contents."""
    use = b.op.SPEC.accumulators
    assert use is not None
    command, operator = accumulator_command(b.op), accumulator_operator(b.op)
    if command is reduce_cmd.load_reduce:
        return b.read(use.initial_field)
    if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
        assert operator is not None
        return IDENTITY[operator]
    return None


def accumulator_use(b: Binding, *, negate: bool = False) -> AccumulatorUse | None:
    """Return the accumulator use that `reduce_cmd` and `reduce_res` request; None for no use.

    `negate` applies to the values written to `reduce_res`, not to the accumulators.
    """
    command = accumulator_command(b.op)
    if command is reduce_cmd.idle and not b.has("reduce_res"):
        return None
    into = None
    if b.has("reduce_res"):
        into = b.into("reduce_res", (b.tile("reduce_res").partitions, 1))
    word = accumulator_operator(b.op) if command.reduces else None
    return AccumulatorUse(registers_of(b), start_of(b), word, into=into, negate=negate)
