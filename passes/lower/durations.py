"""How long engine instructions take, by the cost model, asked once for equal ones."""

from __future__ import annotations

from dataclasses import dataclass

from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import Target
from nkijit.passes.lower.program import Instruction, What


@dataclass(frozen=True, slots=True)
class Duration:
    """Nanoseconds."""

    issue: float
    """Until its queue can begin the next independent instruction."""
    latency: float
    """Until its results can be used."""


class Durations:
    """The durations of a program's instructions."""

    def __init__(self, target: Target):
        self._target = target
        self._known: dict[int, Duration] = {}

    def of(self, instruction: Instruction) -> Duration:
        """How long an instruction takes when nothing else is going on."""
        found = self._known.get(instruction.like)
        if found is None:
            found = self._known[instruction.like] = self._ask(instruction)
        return found

    def _ask(self, instruction: Instruction) -> Duration:
        op = instruction.op
        if not isinstance(op, NisaOp) or instruction.what is not What.compute:
            return Duration(100.0, 2000.0)
        cycles = op.SPEC.stages[instruction.stage].cost.cycles(op, self._target)
        time = cycles / self._target.core_ghz / instruction.parts
        return Duration(time, time + 150.0)
