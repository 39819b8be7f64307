"""The on-chip tiles that engine instructions read and write, and overlaps between them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.bounding_boxes import BoundingBox, bounding_box_of
from nkijit.passes.lower.program import EngineInstruction, Queue

Tiles = list[tuple[int, SSAValue]]
"""Tiles, each with its allocation: (`id` of the allocation's value, tile)."""
READS_ITSELF = frozenset({Queue.vector, Queue.scalar, Queue.gpsimd})
"""The queues of engines that can read results of their own earlier instructions."""


class OnChip:
    """The on-chip tiles that instructions access.

    Overlaps are computed from bounding boxes.
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[list[int], list[int]]] = {}
        """For each `EngineInstruction.like`, the result of `_places`."""
        self._boxes: dict[int, BoundingBox] = {}

    def touched(self, instruction: EngineInstruction) -> tuple[Tiles, Tiles]:
        """Return the on-chip tiles that an instruction reads, and those that it writes."""
        done = effects(instruction.op)
        places = self._places.get(instruction.like)
        if places is None:
            places = self._places[instruction.like] = _places(instruction, done)
        reads, writes = places
        return (
            [(id(base_of(value := done[place].value)), value) for place in reads],
            [(id(base_of(value := done[place].value)), value) for place in writes],
        )

    def meet(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether two tiles of one allocation may share bytes."""
        return one is other or self._box(one).meets(self._box(other))

    def _box(self, value: SSAValue) -> BoundingBox:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = bounding_box_of(value, (0, 0))
        return box


def _places(instruction: EngineInstruction, done: Sequence[Effect]) -> tuple[list[int], list[int]]:
    """Return the indices in `done` of an instruction's on-chip reads, and of its on-chip writes."""
    reads: list[int] = []
    writes: list[int] = []
    for place, ((operand, _), value, role, _) in enumerate(done):
        if operand in instruction.operands and info_of(value).region.on_chip:
            (reads if role is Role.read else writes).append(place)
    return reads, writes
