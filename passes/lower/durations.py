"""How long engine instructions take, by the cost model, asked once for equal ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, cast

from nkijit.dialects.costs import Duration, Transfer, transfer_of
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import Target
from nkijit.passes.lower.program import Instruction, What

_T = TypeVar("_T")
_Key = tuple[int, ...]


class Durations:
    """The durations of a program's instructions."""

    def __init__(self, target: Target):
        self._target = target
        # By identity of what a kernel keeps alive: its types and properties.
        self._durations: dict[_Key, Duration] = {}
        self._transfers: dict[_Key, Transfer] = {}

    def of(self, instruction: Instruction) -> Duration:
        """How long an instruction takes when nothing else is going on.

        A trigger is over when its transfer is on its way; the transfer itself takes the rest.
        """
        what = instruction.what
        if what is What.compute:
            op, stage = cast(NisaOp, instruction.op), instruction.stage
            return self._asked(
                self._durations,
                op,
                stage,
                lambda: op.SPEC.stages[stage].cost.time(op, self._target),
            )
        if what is What.trigger:
            trigger = self.transfer(instruction).trigger_ns
            return Duration(trigger, trigger)
        if what is What.transfer:
            made = self.transfer(instruction)
            return Duration(made.engine_ns, made.latency_ns - made.trigger_ns)
        return self._others[what]

    def transfer(self, instruction: Instruction) -> Transfer:
        """What a DMA, or its trigger, makes the DMA engines do."""
        op = cast(NisaOp, instruction.op)
        return self._asked(self._transfers, op, -1, lambda: transfer_of(op, self._target))

    @cached_property
    def _others(self) -> dict[What, Duration]:
        timing = self._target.timing
        table = timing.scalar.table_load_ns
        test = timing.sequencer.register_access_ns
        # Nothing is published of prints: an instruction that does nothing.
        nothing = timing.semaphores.instruction_ns
        return {
            What.load_table: Duration(table, table),
            What.test: Duration(test, test),
            What.print: Duration(nothing, nothing),
        }

    def _asked(self, known: dict[_Key, _T], op: NisaOp, stage: int, ask: Callable[[], _T]) -> _T:
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        key = (
            id(type(op)),
            stage,
            *map(id, op.properties.values()),
            *[id(value.type) for value in operands],
        )
        found = known.get(key)
        if found is None:
            found = known[key] = ask()
        return found
