"""Durations of engine instructions by the cost model, computed once per equivalence class."""

from __future__ import annotations

from typing import NamedTuple

from nkijit.dialects.declare.cost import Duration, Transfer, transfer_of
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.work import flops_of, peak_flops
from nkijit.passes.lower.program import EngineInstruction, What


class Work(NamedTuple):
    """The floating-point operations of an engine instruction."""

    flops: float
    peak_ns: float
    """The duration in ns, if the engine computed at its peak rate."""


class Durations:
    """The durations of instructions without contention."""

    def __init__(self, target: Target):
        self._target = target
        self.semaphore_ns = target.timing.semaphores.latency_ns
        """The time in ns from the end of an instruction to the start of a waiting instruction."""
        self._known: dict[int, Duration] = {}
        self._transfers: dict[int, Transfer] = {}
        self._works: dict[int, Work] = {}

    def of(self, instruction: EngineInstruction) -> Duration:
        """Return the time for which an instruction occupies its queue, and its latency, in ns."""
        found = self._known.get(instruction.like)
        if found is None:
            found = self._known[instruction.like] = self._compute(instruction)
        return found

    def transfer(self, instruction: EngineInstruction) -> Transfer:
        """Return the work of the DMA engines for a trigger or a transfer."""
        found = self._transfers.get(instruction.like)
        if found is None:
            found = self._transfers[instruction.like] = transfer_of(instruction.op, self._target)
        return found

    def engines_ns(self, instruction: EngineInstruction) -> float:
        """Return the time in ns for which a transfer occupies the DMA engines.

        The transfer is divided among all DMA engines.
        """
        return self.transfer(instruction).busy_ns(self._target)

    def work(self, instruction: EngineInstruction) -> Work:
        """Return the floating-point operations of a matrix multiplication."""
        found = self._works.get(instruction.like)
        if found is None:
            op = instruction.op
            assert is_instruction(op)
            flops = flops_of(op)
            peak_ns = flops / peak_flops(op, self._target) if flops else 0.0
            found = self._works[instruction.like] = Work(flops, peak_ns)
        return found

    def _compute(self, instruction: EngineInstruction) -> Duration:
        timing = self._target.timing
        match instruction.what:
            case What.compute:
                op = instruction.op
                assert is_instruction(op)
                issue, latency = op.SPEC.stages[instruction.stage].cost.time(op, self._target)
                return Duration(issue / instruction.parts, latency / instruction.parts)
            case What.trigger:
                time = self.transfer(instruction).trigger_ns
                return Duration(time, time)
            case What.transfer:
                moved = self.transfer(instruction)
                time = moved.dispatch_ns + moved.payload_ns + moved.notify_ns
                return Duration(moved.engine_ns, time)
            case What.load_table:
                return Duration(timing.scalar.table_load_ns, timing.scalar.table_load_ns)
            case What.test | What.print:
                return Duration(timing.sequencer.alu_ns, timing.sequencer.alu_ns)
