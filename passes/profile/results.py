"""Waits of an instruction for results of earlier instructions of the same queue.

A queue sees its own results in order, so there are no semaphores for them. An engine begins the
next instruction before earlier results are written, unless the instruction reads them. The Tensor
Engine never waits for itself: it does not write its operands, and PSUM adds up in place.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.passes.lower.on_chip import OnChip, Tiles
from nkijit.passes.lower.program import EngineInstruction
from nkijit.passes.profile.timeline import Event


class Results:
    """The results of one engine that are not written yet."""

    def __init__(self) -> None:
        self._on_chip = OnChip()
        self._parts: dict[EngineInstruction, tuple[Tiles, Tiles]] = {}
        """For instructions that are simulated again, the tiles that they read and write.

        These are the instructions in loops, and the next instruction.
        """
        self._pending: dict[int, list[tuple[SSAValue, Event]]] = {}
        """The pending writes of each allocation, by `id`, as hashing a value is slow."""

    def awaited(self, instruction: EngineInstruction, time: float) -> Event | None:
        """Of the results that an instruction reads, return the event of the last to be available.

        None if all are available at `time`.
        """
        parts = self._parts.get(instruction)
        if parts is None:
            parts = self._parts[instruction] = self._on_chip.touched(instruction)
        last: Event | None = None
        pending = self._pending
        for base, value in parts[0]:
            if base in pending:
                for written, event in pending[base]:
                    if event.end > time and self._on_chip.meet(written, value):
                        time, last = event.end, event
        return last

    def note(self, instruction: EngineInstruction, event: Event) -> None:
        """Record the results of an instruction that has begun; call `awaited` before this."""
        parts = self._parts[instruction]
        if instruction.loop is None:
            del self._parts[instruction]
        for base, value in parts[1]:
            before = self._pending.get(base)
            if before is None:
                self._pending[base] = [(value, event)]
            else:
                begin = event.begin
                self._pending[base] = [p for p in before if p[1].end > begin]
                self._pending[base].append((value, event))
