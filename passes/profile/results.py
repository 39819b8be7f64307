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

_Tiles = list[tuple[SSAValue, SSAValue]]
"""Tiles, each after its allocation."""


class Results:
    """What an engine has written that it cannot read yet."""

    def __init__(self) -> None:
        self._on_chip: dict[int, bool] = {}
        """For each type, by its identity, whether its tiles are on chip."""
        self._boxes: dict[int, BoundingBox] = {}
        self._parts: dict[Instruction, tuple[_Tiles, _Tiles]] = {}
        """What the instructions of loops read and write, and the one that begins next."""
        self._pending: dict[SSAValue, list[tuple[SSAValue, Event]]] = {}

    def awaited(self, instruction: Instruction, time: float) -> Event | None:
        """The result that an instruction has to wait for last, if one comes after `time`."""
        parts = self._parts.get(instruction)
        if parts is None:
            parts = self._parts[instruction] = self._touched(instruction)
        last: Event | None = None
        for base, value in parts[0]:
            for written, event in self._pending.get(base, ()):
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
                before[:] = [p for p in before if p[1].end > event.begin]
                before.append((value, event))

    def _touched(self, instruction: Instruction) -> tuple[_Tiles, _Tiles]:
        found: tuple[_Tiles, _Tiles] = ([], [])
        names = instruction.operands
        for what, value, role, _ in effects(instruction.op):
            if self._is_on_chip(value) and what.operand in names:
                found[role is not Role.read].append((base_of(value), value))
        return found

    def _is_on_chip(self, value: SSAValue) -> bool:
        key = id(value.type)
        known = self._on_chip.get(key)
        if known is None:
            known = self._on_chip[key] = info_of(value).region.on_chip
        return known

    def _meet(self, one: SSAValue, other: SSAValue) -> bool:
        return one is other or self._box(one).meets(self._box(other))

    def _box(self, value: SSAValue) -> BoundingBox:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = bounding_box_of(value, (0, 0))
        return box
