"""Which results of its own queue an instruction has to wait for.

A queue sees its own results in order, so no semaphore says this: an engine begins with the next
instruction while the results of earlier ones are still on their way, unless it reads them. Tiles
are distinguished by the partitions and bytes around them. What the Tensor Engine reads it never
writes, and adding to PSUM is done where the data is, so it never waits for itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.bounding_boxes import BoundingBox, bounding_box_of
from nkijit.passes.lower.program import EngineInstruction
from nkijit.passes.profile.timeline import Event

_Tiles = list[tuple[int, SSAValue]]
"""Tiles, each after the identity of its allocation."""


class Results:
    """What an engine has written that it cannot read yet."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[list[int], list[int]]] = {}
        """Which effects are reads and writes on chip, of instructions that are alike."""
        self._boxes: dict[int, BoundingBox] = {}
        self._parts: dict[EngineInstruction, tuple[_Tiles, _Tiles]] = {}
        """What the instructions of loops read and write, and the one that begins next."""
        self._pending: dict[int, list[tuple[SSAValue, Event]]] = {}
        """What is written of each allocation, by its identity, as hashing a value is a call."""

    def awaited(self, instruction: EngineInstruction, time: float) -> Event | None:
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

    def _touched(self, instruction: EngineInstruction) -> tuple[_Tiles, _Tiles]:
        done = effects(instruction.op)
        places = self._places.get(instruction.like)
        if places is None:
            places = self._places[instruction.like] = _places(instruction, done)
        reads, writes = places
        return (
            [(id(base_of(value := done[place].value)), value) for place in reads],
            [(id(base_of(value := done[place].value)), value) for place in writes],
        )

    def _meet(self, one: SSAValue, other: SSAValue) -> bool:
        return one is other or self._box(one).meets(self._box(other))

    def _box(self, value: SSAValue) -> BoundingBox:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = bounding_box_of(value, (0, 0))
        return box


def _places(instruction: EngineInstruction, done: Sequence[Effect]) -> tuple[list[int], list[int]]:
    """The effects of an instruction's operation that are its reads and its writes on chip."""
    reads: list[int] = []
    writes: list[int] = []
    for place, ((operand, _), value, role, _) in enumerate(done):
        if operand in instruction.operands and info_of(value).region.on_chip:
            (reads if role is Role.read else writes).append(place)
    return reads, writes
