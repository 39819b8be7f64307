"""What instructions do with the accumulators of their engine, around a computation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.passes.analysis.accumulators import (
    accumulator_command,
    accumulator_lanes,
    accumulator_operator,
)
from nkijit.passes.interpret.binding import Array, Binding, Env, Source, Step
from nkijit.passes.interpret.functions import IDENTITY, fold


@dataclass(frozen=True, slots=True)
class Registers:
    """The accumulators that an instruction uses: some lanes of its engine's."""

    slot: int
    lanes: slice

    def of(self, env: Env) -> Array:
        """Their values, float32 (P, 1), to read and to write."""
        return env[self.slot][self.lanes]

    @property
    def source(self) -> Source:
        """The registers as an operand."""
        return Source(self.slot, lambda registers: registers[self.lanes])


def registers_of(b: Binding) -> Registers:
    """The accumulators that an instruction uses."""
    return Registers(b.accumulators(), accumulator_lanes(b.op))


def accumulate(b: Binding, compute: Step, results: int, *, negate: bool = False) -> Step:
    """`compute`, then what `reduce_cmd` and `reduce_res` say about the accumulators.

    The accumulators take the float32 results in slot `results`, before the rounding to dst.
    `negate` is about what `reduce_res` gets; the accumulators keep theirs.
    """
    command = accumulator_command(b.op)
    if command is reduce_cmd.idle and not b.has("reduce_res"):
        return compute
    registers = registers_of(b)
    steps = [*start(b, registers), compute]
    if command.reduces:
        operator = accumulator_operator(b.op)
        assert operator is not None

        def reduce(env: Env) -> None:
            accumulators = registers.of(env)
            accumulators[...] = fold(operator, accumulators, env[results])

        steps.append(reduce)
    if b.has("reduce_res"):
        steps.append(_read_out(b, registers, negate))
    return in_order(steps)


def start(b: Binding, registers: Registers) -> Sequence[Step]:
    """What the registers hold before the first result: reset, loaded, or as they are.

    To be run before anything is written: what is loaded may be a part of dst.
    """
    command, operator = accumulator_command(b.op), accumulator_operator(b.op)
    use = b.op.SPEC.accumulators
    assert use is not None
    if command is reduce_cmd.load_reduce:
        initial = b.read(use.initial_field)

        def load(env: Env) -> None:
            registers.of(env)[...] = initial.read(env)

        return [load]
    if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
        assert operator is not None
        identity = IDENTITY[operator]

        def reset(env: Env) -> None:
            registers.of(env)[...] = identity

        return [reset]
    return []


def in_order(steps: Sequence[Step]) -> Step:
    """One step that runs several."""
    parts = tuple(steps)

    def step(env: Env) -> None:
        for part in parts:
            part(env)

    return step


def _read_out(b: Binding, registers: Registers, negate: bool) -> Step:
    shape = (b.tile("reduce_res").partitions, 1)
    column = b.scratch(shape)
    store = b.store(column, shape, "reduce_res")

    def step(env: Env) -> None:
        if negate:
            np.negative(registers.of(env), env[column])
        else:
            env[column][...] = registers.of(env)
        store(env)

    return step
