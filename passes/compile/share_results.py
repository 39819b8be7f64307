"""`share-results`: what has been computed is not computed again from the same contents.

Two instructions that are alike have the same results if they read the same elements, and nobody has
written there in between. Whoever reads the second result reads the first one, if nothing else ever
writes to either. Kernels ask for that where they compute in each iteration of a loop what does not
depend on it: Python has run the loop, and what a compiler would move out of it stands there once
for each iteration.

The first result is in use for longer, for which there has to be room. Loads are not shared that
way: see `share-loads`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.compile.accesses import Access, elements_of, is_free, is_own
from nkijit.passes.compile.analyses import Analyses
from nkijit.passes.compile.list_schedule import ROOM
from nkijit.passes.compile.merge import Tiles
from nkijit.passes.compile.room import Rooms


def share_results(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Leave out instructions whose results are there; returns how many.

    `analyses`: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    program = _Program(analyses)
    shared = sum(program.follow(op) for op in list(kernel.operations))
    if shared:
        analyses.changed()
    return shared


class _Program:
    """A kernel while its instructions are looked at in order."""

    def __init__(self, analyses: Analyses):
        self._analyses = analyses
        self._rooms = Rooms(analyses.kernel, ROOM)
        self._tiles = Tiles(analyses)
        self._writes: dict[SSAValue, int] = {}
        """How often each tensor has been written."""
        self._first: dict[Hashable, tuple[NisaOp, SSAValue]] = {}
        """The instruction that has computed something, and the tile that it has filled."""

    def follow(self, op: Operation) -> bool:
        """Go on behind an operation; whether it is left out."""
        done = effects(op)
        cost = self._analyses.costs.get(id(op))  # there is none where it has to stay
        if cost is not None and not cost.queue.is_ring and is_free(op):
            op = cast(NisaOp, op)
            tile = self._filled(op, done)
            key = None if tile is None else self._key(op, cost.form, done)
            if tile is not None and key is not None:
                first = self._first.setdefault(key, (op, tile))
                if first[0] is not op:
                    if self._share(*first, op, tile):
                        return True
                    self._first[key] = op, tile
        self._note_writes(done)
        return False

    def _note_writes(self, done: tuple[Effect, ...]) -> None:
        """What has been computed from these tensors is not what would be computed now."""
        for effect in done:
            if effect.role is not Role.read:
                base = base_of(effect.value)
                self._writes[base] = self._writes.get(base, 0) + 1

    def _filled(self, op: NisaOp, done: tuple[Effect, ...]) -> SSAValue | None:
        """The tile that an instruction fills, if it writes nothing else, and nothing else it."""
        written = [effect for effect in done if effect.role is not Role.read]
        if len(written) != 1 or written[0].partial:
            return None
        if written[0].role is Role.update:
            adds = accumulation_of(op, self._analyses.kernel.target)
            if adds is not Accumulation.overwrites:
                return None
        filled = written[0].value
        tile = base_of(filled)
        if not is_own(tile) or cast(AllocOp, tile.owner).attributes:
            return None
        if elements_of(filled) is None or not _is_whole(info_of(filled), info_of(tile)):
            return None
        first, *others = self._analyses.accesses[tile]
        return tile if first.op is op and not _writes(others) else None

    def _key(self, op: NisaOp, form: int, done: tuple[Effect, ...]) -> Hashable | None:
        """Equal for instructions of a block that have the same result; None if that is not known.

        `form`: equal for those that differ in names and in where their tiles begin only.
        """
        if any(True for _ in self._analyses.kept.of(op)):
            return None
        touched = {id(effect.value) for effect in done}
        key: list[Hashable] = [op.parent, form]
        key += [value for value in op.operands if id(value) not in touched]
        for effect in done:
            if effect.role is not Role.read:
                continue
            base = base_of(effect.value)
            if not is_own(base) or elements_of(effect.value) is None:
                return None
            key += [base, self._writes.get(base, 0), info_of(effect.value).offset]
        return tuple(key)

    def _share(self, first: NisaOp, kept: SSAValue, second: NisaOp, gone: SSAValue) -> bool:
        """Let those who read a result read the one that is there."""
        if kept.type != gone.type or kept.owner.parent is not gone.owner.parent:
            return False
        accesses = self._analyses.accesses
        readers = accesses[gone][1:]
        last = readers[-1].op if readers else second
        if not self._rooms.of(kept).takes(kept, [gone], first, last):
            return False
        self._tiles.merge(kept, gone, second)
        accesses[kept] += readers
        return True


def _is_whole(part: TileInfo, tile: TileInfo) -> bool:
    return part.size == tile.size and part.dtype is tile.dtype


def _writes(accesses: Sequence[Access]) -> bool:
    """Whether any of them writes."""
    return any(access.writes for access in accesses)
