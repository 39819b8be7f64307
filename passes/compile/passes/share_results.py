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
from dataclasses import dataclass
from typing import cast

from xdsl.ir import SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import effects
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.compile.analyses.accesses import (
    Access,
    between,
    elements_of,
    fills_tile,
    is_free,
    is_own,
)
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.memory_use import Rooms
from nkijit.passes.compile.analyses.merge import Tiles
from nkijit.passes.compile.passes.list_schedule import ROOM


def share_results(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Leave out instructions whose results are there; returns how many.

    `analyses`: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    program = _Program(analyses)
    costs, shared = analyses.costs, 0
    for place, op in enumerate(analyses.operations):
        cost = costs.get(id(op))  # there is none where it has to stay
        if cost is not None and not cost.queue.is_ring:
            shared += program.is_shared(cast(NisaOp, op), place, cost.form)
    if shared:
        analyses.changed()
    return shared


@dataclass(slots=True)
class _Result:
    """What an instruction has computed."""

    op: NisaOp
    place: int
    """That of the instruction in the program."""
    tile: SSAValue | None
    """Where it is; None where it cannot be shared."""


class _Program:
    """A kernel while its instructions are looked at in order."""

    def __init__(self, analyses: Analyses):
        self._analyses = analyses
        self._rooms = Rooms(analyses.kernel, ROOM)
        self._tiles = Tiles(analyses)
        self._last: dict[Hashable, _Result] = {}
        """The last result that instructions alike had of the same tiles."""

    def is_shared(self, op: NisaOp, place: int, form: int) -> bool:
        """Whether an instruction is left out, as others have its result.

        `form`: equal for instructions that differ in names and in where their tiles begin only.
        """
        key = _key(op, form)
        last = self._last.get(key)
        if last is None:
            # Most have no likes: what else is needed is asked when one comes.
            self._last[key] = _Result(op, place, None)
            return False
        if last.tile is None:
            last.tile = self._filled(last.op)
        tile = self._filled(op) if last.tile is not None else None
        if tile is not None and self._is_the_same(last, op, place) and self._share(last, op, tile):
            return True
        self._last[key] = _Result(op, place, tile)
        return False

    def _filled(self, op: NisaOp) -> SSAValue | None:
        """The tile that an instruction fills, if it writes nothing else, and nothing else it."""
        if not is_free(op) or any(True for _ in self._analyses.kept.of(op)):
            return None
        written = [effect for effect in effects(op) if effect.role is not Role.read]
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
        if not fills_tile(filled):
            return None
        first, *others = self._analyses.accesses[tile]
        return tile if first.op is op and not _writes(others) else None

    def _is_the_same(self, last: _Result, op: NisaOp, place: int) -> bool:
        """Whether an instruction reads what a like of it has read: it is known, and as it was."""
        for effect in effects(op):
            if effect.role is Role.read:
                base = base_of(effect.value)
                if not is_own(base) or elements_of(effect.value) is None:
                    return False
                if _writes(between(self._analyses.accesses[base], last.place, place)):
                    return False
        return True

    def _share(self, last: _Result, op: NisaOp, gone: SSAValue) -> bool:
        """Let those who read a result read the one that is there."""
        kept = last.tile
        assert kept is not None
        if kept.type != gone.type or kept.owner.parent is not gone.owner.parent:
            return False
        accesses = self._analyses.accesses
        readers = accesses[gone][1:]
        end = readers[-1].op if readers else op
        if not self._rooms.of(kept).takes(kept, [gone], last.op, end):
            return False
        self._tiles.merge(kept, gone, op)
        accesses[kept] += readers
        return True


def _key(op: NisaOp, form: int) -> Hashable:
    """Equal for instructions of a block that are alike and read the same elements."""
    key: list[object] = [op.parent, form]
    for _, value, role, _ in effects(op):
        if role is Role.read:
            key += (id(base_of(value)), info_of(value).offset)
    values = operand_tuple(op)
    key += [id(value) for value in values if not is_tile(value)]
    return tuple(key)


def _writes(accesses: Sequence[Access]) -> bool:
    """Whether any of them writes."""
    return any(access.writes for access in accesses)
