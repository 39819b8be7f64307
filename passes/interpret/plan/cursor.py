"""A run that advances one instruction at a time and can return to checkpoints.

A `Checkpoint` is the state needed to resume a run: the position in the kernel's body and in its
loops, and the contents of the tensors that are in use there. Contents that have not changed since
the previous checkpoint are shared between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.nki.views import base_of
from nkijit.passes.interpret.plan.plan import Held, Plan
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.machine import FIRST_CORE, run_together
from nkijit.passes.interpret.steps.body import Body, ConditionalLoop, CountedLoop, Loop, loop_limit
from nkijit.passes.numerics.storage import untrapped


@dataclass(slots=True)
class _Level:
    """The position of a run in one body: the kernel's body or the body of a loop."""

    body: Body
    position: int = 0
    loop: Loop | None = None
    """The loop that contains the body; None for the kernel's body."""
    numbers: range = range(0)
    """The values of the loop's induction variable."""
    done: int = 0
    """The number of iterations of the loop that have begun."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state needed to resume a run."""

    count: int
    """The number of instructions that have run."""
    levels: tuple[_Level, ...]
    changed: Mapping[int, Any]
    """The values of the slots that differ from their values at the start of the run, by slot."""
    contents: Mapping[int, Array]
    """The contents of tensors and states, by slot."""


class Cursor:
    """A run of a plan on one core that advances one instruction at a time."""

    def __init__(self, plan: Plan, inputs: Sequence[Any]):
        """Start a run. `inputs` has one array per kernel argument; these arrays are not written."""
        self._plan = plan
        self.env = plan.start(inputs, watched=True)
        self._held = plan.held()
        self._begins: dict[int, list[Held]] = {}
        for held in self._held:
            self._begins.setdefault(held.first, []).append(held)
        for held in self._begins.pop(-1, ()):
            held.clear(self.env)
        self._began = self.env.copy()
        self._levels = [_Level(plan.body)]
        self.count = 0
        """The number of instructions that have run."""
        self._written = {held.slot for held in self._held}
        """The slots of the tensors that have been written since the last checkpoint."""

    @property
    def loops(self) -> tuple[tuple[Operation, int], ...]:
        """The loops on the device around the next instruction, each with its current iteration.

        For a counted loop, the iteration is the value of the induction variable; in other loops it
        is counted from 0.
        """
        return tuple(
            (level.loop.op, self.env[level.loop.index])
            if isinstance(level.loop, CountedLoop)
            else (level.loop.op, level.done)
            for level in self._levels
            if level.loop is not None
        )

    def next(self) -> Operation | None:
        """Advance to the next instruction without running it, and return it; None at the end."""
        return untrapped(self._next)

    def _next(self) -> Operation | None:
        while self._levels:
            level = self._levels[-1]
            if level.position == len(level.body.ops):
                self._end_of_body()
                continue
            if len(self._levels) == 1:
                for held in self._begins.get(level.position, ()):
                    held.clear(self.env)
            op = level.body.ops[level.position]
            loop = level.body.loops.get(level.position)
            if is_instruction(op) or isinstance(op, DevicePrintOp):
                return op
            level.position += 1
            if loop is not None:
                self._enter(loop)
            else:
                self._do(level.body, level.position - 1)
        return None

    def run(self, *, shows: bool = True) -> None:
        """Run the instruction that `next` returned; without `shows`, device prints are skipped."""
        level = self._levels[-1]
        op = level.body.ops[level.position]
        if shows or not isinstance(op, DevicePrintOp):
            untrapped(self._do, level.body, level.position)
        base = self._plan.slots.base
        for value, role in reads_and_writes(op):
            if role is not Role.read:
                self._written.add(base(base_of(value)))
        level.position += 1
        self.count += 1

    def _do(self, body: Body, position: int) -> None:
        env = self.env
        driver = body.drivers.get(position)
        if driver is not None:
            run_together([(FIRST_CORE, driver(env))])
        else:
            body.forms[position].step(body.frames[position](env))

    def _enter(self, loop: Loop) -> None:
        if isinstance(loop, CountedLoop):
            self._levels.append(_Level(loop.body, len(loop.body.ops), loop, loop.enter(self.env)))
        else:
            self._levels.append(_Level(loop.before, 0, loop))

    def _end_of_body(self) -> None:
        """Begin another iteration of the innermost loop, or leave the loop."""
        level, env = self._levels[-1], self.env
        loop = level.loop
        if isinstance(loop, CountedLoop) and level.done < len(level.numbers):
            env[loop.index] = level.numbers[level.done]
            level.done, level.position = level.done + 1, 0
        elif isinstance(loop, ConditionalLoop) and level.body is loop.body:
            level.body, level.position, level.done = loop.before, 0, level.done + 1
        elif isinstance(loop, ConditionalLoop) and loop.continues(env, loop_limit(), level.done):
            level.body, level.position = loop.body, 0
        else:
            self._levels.pop()

    # ---------------------------------------------------------------- checkpoints

    def keep(self, before: Checkpoint | None = None) -> Checkpoint:
        """Return a checkpoint of the current state; `before` is the run's previous checkpoint."""
        position = self._levels[0].position if self._levels else len(self._plan.body.ops)
        # Inside a loop, `position` is already after it.
        still = position - (len(self._levels) > 1)
        contents: dict[int, Array] = {}
        known: Mapping[int, Array] = {} if before is None else before.contents
        for held in self._held:
            if held.first < position and still <= held.last:
                same = held.slot not in self._written and held.slot in known
                contents[held.slot] = known[held.slot] if same else self.env[held.slot].copy()
        for slot in self._plan.states:
            contents[slot] = self.env[slot].copy()
        self._written.clear()
        levels = tuple(replace(level) for level in self._levels)
        # Arrays are states, or belong to the last instruction.
        changed = {
            slot: value
            for slot, value in enumerate(self.env)
            if value is not self._began[slot] and not isinstance(value, np.ndarray)
        }
        return Checkpoint(self.count, levels, changed, contents)

    def go_back(self, to: Checkpoint) -> None:
        """Return to a checkpoint of this run."""
        self.env[:] = self._began
        for slot, value in to.changed.items():
            self.env[slot] = value
        states = self._plan.states
        for slot, content in to.contents.items():
            if slot in states:
                self.env[slot] = content.copy()
            else:
                self.env[slot][...] = content
        self._levels = [replace(level) for level in to.levels]
        self.count = to.count
        self._written = {held.slot for held in self._held}
