"""Which results of its own queue an instruction has to wait for.

A queue sees its own results in order, so no semaphore says this: an engine begins with the next
instruction while the results of earlier ones are still on their way, unless it reads them. Tiles
are told apart by the partitions and bytes around them. What the Tensor Engine reads it never
writes, and adding to PSUM is done where the data is, so it never waits for itself.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.effects import effects
from nkijit.dialects.fields import Role
from nkijit.dialects.tiles import info_of
from nkijit.dialects.views import base_of
from nkijit.passes.lower.program import Instruction
from nkijit.passes.lower.reuse import Box, box_of
from nkijit.passes.lower.timeline import Event

_Part = tuple[SSAValue, Box]
"""An allocation, and where in it."""


class Results:
    """What an engine has written that it cannot read yet."""

    def __init__(self) -> None:
        self._boxes: dict[int, _Part | None] = {}
        self._touched: dict[Instruction, tuple[list[_Part], list[_Part]]] = {}
        self._pending: dict[SSAValue, list[tuple[Box, Event]]] = {}

    def awaited(self, instruction: Instruction, time: float) -> Event | None:
        """The result that an instruction has to wait for last, if one comes after `time`."""
        last: Event | None = None
        for base, box in self._parts(instruction)[0]:
            for written, event in self._pending.get(base, ()):
                if event.end > time and written.meets(box):
                    time, last = event.end, event
        return last

    def note(self, instruction: Instruction, event: Event) -> None:
        """An instruction has begun."""
        # In a loop it comes again; in straight-line code, which can be long, it does not.
        parts = self._touched if instruction.loop else None
        reads_and_writes = self._parts(instruction)
        if parts is None:
            self._touched.pop(instruction, None)
        for base, box in reads_and_writes[1]:
            pending = [p for p in self._pending.get(base, ()) if p[1].end > event.begin]
            pending.append((box, event))
            self._pending[base] = pending

    def _parts(self, instruction: Instruction) -> tuple[list[_Part], list[_Part]]:
        """What an instruction reads and what it writes on chip."""
        found = self._touched.get(instruction)
        if found is None:
            found = self._touched[instruction] = ([], [])
            names = instruction.operands
            for name, value, role, _ in effects(instruction.op):
                if name.removeprefix("index of ") in names:
                    part = self._part(value)
                    if part is not None:
                        found[role is not Role.read].append(part)
        return found

    def _part(self, value: SSAValue) -> _Part | None:
        key = id(value)
        if key not in self._boxes:
            on_chip = info_of(value).region.on_chip
            self._boxes[key] = (base_of(value), box_of(value, (0, 0))) if on_chip else None
        return self._boxes[key]
