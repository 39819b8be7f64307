"""What DMA moves: from which memory to which, and how much of it passes through HBM."""

from __future__ import annotations

from typing import NamedTuple, cast

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import EngineInstruction


class Move(NamedTuple):
    """A transfer's traffic."""

    direction: str
    """`HBM to SBUF`, and so on."""
    bytes: int
    hbm_bytes: int
    """Bytes that HBM reads and writes for it."""


class Traffic:
    """The traffic of a core's transfers, found once for equal ones."""

    def __init__(self, durations: Durations):
        self._durations = durations
        self._known: dict[int, Move] = {}

    def of(self, instruction: EngineInstruction) -> Move:
        """What a transfer moves."""
        move = self._known.get(instruction.like)
        if move is None:
            size = self._durations.transfer(instruction).bytes
            move = self._known[instruction.like] = _move(cast(NisaOp, instruction.op), size)
        return move


def _move(op: NisaOp, size: int) -> Move:
    given = [(f.role, info_of(value)) for f, value in op.given_operands() if is_tile(value)]
    ends = [
        next(tile for role, tile in given if (role is Role.read) is is_read)
        for is_read in (True, False)
    ]
    names = " to ".join(map(_memory, ends))
    return Move(names, size, size * sum(not end.region.on_chip for end in ends))


def _memory(tile: TileInfo) -> str:
    return tile.region.name.upper() if tile.region.on_chip else "HBM"
