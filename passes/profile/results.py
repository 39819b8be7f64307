"""Which results of its own queue an instruction has to wait for.

A queue sees its own results in order, so no semaphore says this: an engine begins with the next
instruction while the results of earlier ones are still on their way, unless it reads them. What
the Tensor Engine reads it never writes, and adding to PSUM is done where the data is, so it never
waits for itself.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.passes.lower.on_chip import OnChip, Tiles
from nkijit.passes.lower.program import EngineInstruction
from nkijit.passes.profile.timeline import Event


class Results:
    """What an engine has written that it cannot read yet."""

    def __init__(self) -> None:
        self._on_chip = OnChip()
        self._parts: dict[EngineInstruction, tuple[Tiles, Tiles]] = {}
        """What the instructions of loops read and write, and the one that begins next."""
        self._pending: dict[int, list[tuple[SSAValue, Event]]] = {}
        """What is written of each allocation, by its identity, as hashing a value is a call."""

    def awaited(self, instruction: EngineInstruction, time: float) -> Event | None:
        """The result that an instruction has to wait for last, if one comes after `time`."""
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
        """An instruction has begun that `awaited` was asked about."""
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
