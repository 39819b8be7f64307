"""Which results of its own queue an instruction has to wait for.

A queue sees its own results in order, so no semaphore says this: an engine begins with the next
instruction while the results of earlier ones are still on their way, unless it reads them. Tiles
are distinguished by the partitions and bytes around them. What the Tensor Engine reads it never
writes, and adding to PSUM is done where the data is, so it never waits for itself.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bounding_boxes import BoundingBox, bounding_box_of
from nkijit.passes.lower.program import Instruction
from nkijit.passes.profile.timeline import Event

_Tiles = list[tuple[int, SSAValue]]
"""Tiles, each after the identity of its allocation."""


class Results:
    """What an engine has written that it cannot read yet."""

    def __init__(self) -> None:
        self._on_chip: dict[int, bool] = {}
        """For each type, by its identity, whether its tiles are on chip."""
        self._boxes: dict[int, BoundingBox] = {}
        self._parts: dict[Instruction, tuple[_Tiles, _Tiles]] = {}
        """What the instructions of loops read and write, and the one that begins next."""
        self._pending: dict[int, list[tuple[SSAValue, Event]]] = {}
        """What is written of each allocation, by its identity, as hashing a value is a call."""

    def awaited(self, instruction: Instruction, time: float) -> Event | None:
        """The result that an instruction has to wait for last, if one comes after `time`."""
        parts = self._parts.get(instruction)
        if parts is None:
            parts = self._parts[instruction] = self._touched(instruction)
        last: Event | None = None
        pending = self._pending
        for base, value in parts[0]:
            if base in pending:
                for written, event in pending[base]:
                    if event.end > time and self._meet(written, value):
                        time, last = event.end, event
        return last

    def note(self, instruction: Instruction, event: Event) -> None:
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

    def _touched(self, instruction: Instruction) -> tuple[_Tiles, _Tiles]:
        reads: _Tiles = []
        writes: _Tiles = []
        names, on_chip = instruction.operands, self._on_chip
        for (operand, _), value, role, _ in effects(instruction.op):
            key = id(value._type)  # pyright: ignore[reportPrivateUsage]
            if key not in on_chip:
                on_chip[key] = info_of(value).region.on_chip
            if on_chip[key] and operand in names:
                part = id(base_of(value)), value
                if role is Role.read:
                    reads.append(part)
                else:
                    writes.append(part)
        return reads, writes

    def _meet(self, one: SSAValue, other: SSAValue) -> bool:
        return one is other or self._box(one).meets(self._box(other))

    def _box(self, value: SSAValue) -> BoundingBox:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = bounding_box_of(value, (0, 0))
        return box
