"""The memories that DMA transfers read and write, and the number of bytes to and from HBM."""

from __future__ import annotations

from typing import NamedTuple, cast

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import EngineInstruction


class Move(NamedTuple):
    """The traffic of a transfer."""

    direction: str
    """The memories of source and destination, for example `HBM to SBUF`."""
    bytes: int
    hbm_bytes: int
    """The bytes that the transfer reads from HBM, plus the bytes that it writes to HBM."""


class Traffic:
    """The traffic of transfers, cached per equivalence class."""

    def __init__(self, durations: Durations):
        self._durations = durations
        self._known: dict[int, Move] = {}

    def of(self, instruction: EngineInstruction) -> Move:
        """Return the traffic of a transfer."""
        move = self._known.get(instruction.like)
        if move is None:
            size = self._durations.transfer(instruction).bytes
            move = self._known[instruction.like] = _move(cast(NisaOp, instruction.op), size)
        return move


def _move(op: NisaOp, size: int) -> Move:
    tiles = [(f.role, info_of(value)) for f, value in op.given_operands() if is_tile(value)]
    ends = [
        next(tile for role, tile in tiles if (role is Role.read) is is_read)
        for is_read in (True, False)
    ]
    names = " to ".join(map(_memory, ends))
    return Move(names, size, size * sum(not end.region.on_chip for end in ends))


def _memory(tile: TileInfo) -> str:
    return tile.region.name.upper() if tile.region.on_chip else "HBM"
