"""`share-loads`: what is on chip is not loaded again while it is in use, or from where it came.

A load is left out if a tile holds the same elements of HBM, they have not been written since, and
one of two things is so. The tile is in use anyway when the load comes: in no place more memory is
needed than before, as two tiles with the same contents become one. Or the statement of the kernel
that loads has loaded the same the last time that it ran: it stands in a loop that Python has run,
and does not depend on its index. A compiler has such loads before the loop, if there is room.
Those who read what was loaded read the tile that is there, which stays in use for as long as they
need it.

What is loaded again later by other statements, or after something else, is loaded again: published
times of kernels that load a tile once for each use show that the vendor's compiler leaves that so.
The exception is the classic API on NeuronCore-v3 and newer: what a statement has loaded at any time
before it does not load again for as long as there is room. Times are published of a matmul in three
loops of Python that loads both tiles in the innermost one (allenkchau/trainium-kernel-fusion), in
which the DMA engines could not have moved all that.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from operator import attrgetter
from typing import cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.compile.analyses.accesses import (
    Access,
    Accesses,
    elements_of,
    fills_tile,
    is_free,
    is_own,
)
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.memory_use import Rooms
from nkijit.passes.compile.analyses.merge import Tiles
from nkijit.passes.compile.passes.list_schedule import ROOM

_PLACE = attrgetter("place")
_MOST_HELD = 64
"""Loads of one tensor that are looked at side by side, if somebody writes it."""


@dataclass(slots=True)
class _Load:
    """A tile that holds a part of a tensor in HBM."""

    op: DmaCopyOp
    place: int
    tile: SSAValue
    """The allocation, which is loaded as a whole."""
    source: TileInfo
    loaded: TileInfo
    last: int
    """The place in the program where the contents are used last."""
    user: Operation
    """What uses them there: an instruction or a loop."""
    until: float
    """The place where the tile is written again."""


def share_loads(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Leave out loads; returns how many.

    `analyses`: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    accesses = analyses.accesses
    meetings: list[int] = []
    if not analyses.of_kind.keys().isdisjoint(WAITING):
        # What other cores have written is to be seen behind.
        meetings = [n for n, op in enumerate(analyses.operations) if type(op) in WAITING]
    tiles, rooms = Tiles(analyses), Rooms(kernel, ROOM)
    keeps = kernel.classic is not None and kernel.target.version >= nc_version.gen3
    left_out = 0
    for base, touched in accesses.items():
        if info_of(base).region.on_chip:
            continue
        is_read_only = not any(access.writes for access in touched)
        held: dict[object, _Load] = {}
        of_statement: dict[LocationAttr, object] = {}
        """What each statement has loaded the last time that it ran."""
        for access in touched:
            if access.writes:
                written = [info_of(e.value) for e in access.effects if e.role is not Role.read]
                for key in [key for key, load in held.items() if _meets(load.source, written)]:
                    del held[key]
            load = _load(access, analyses)
            if load is None:
                continue
            key = load.source, load.loaded, load.tile.type, load.op.parent
            first, statement = held.get(key), load.op.location
            again = statement != UNKNOWN_LOC and (
                of_statement.get(statement) == key
                or (keeps and first is not None and first.op.location == statement)
            )
            of_statement[statement] = key
            if (
                first is not None
                and _serves(first, load, accesses, meetings)
                and (first.last >= load.place or (again and _fits(first, load, rooms)))
            ):
                tiles.merge(first.tile, load.tile, load.op)
                if load.last > first.last:
                    first.last, first.user = load.last, load.user
                left_out += 1
                continue
            held.pop(key, None)
            held[key] = load
            if len(held) > _MOST_HELD and not (keeps and is_read_only):
                del held[next(iter(held))]
    if left_out:
        analyses.changed()
    return left_out


def _around(access: Access, load: DmaCopyOp, analyses: Analyses) -> tuple[int, int, Operation]:
    """The places between which an access comes, seen from where a tile is loaded.

    What is in loops that the load is not in comes again and again until the outermost ends, which
    is returned as well; the access itself, if there is none.
    """
    outermost: Operation = access.op
    while outermost.parent is not load.parent:
        around = outermost.parent_op()
        if around is None:  # the load itself is in a loop, which has ended
            return access.place, access.place, access.op
        outermost = around
    if not outermost.regions:
        return access.place, access.place, access.op
    first, last = analyses.ends_of(outermost)
    return first, last, outermost if isinstance(outermost, (ForOp, WhileOp)) else access.op


def _meets(source: TileInfo, written: list[TileInfo]) -> bool:
    return any(source.overlaps(tile) for tile in written)


def _load(access: Access, analyses: Analyses) -> _Load | None:
    """The load that an access is, if it fills a whole tile."""
    op = access.op
    if not isinstance(op, DmaCopyOp):
        return None
    src, dst = op.required("src"), op.required("dst")
    tile = base_of(dst)
    source, loaded = elements_of(src), elements_of(dst)
    if not is_own(tile) or source is None or cast(AllocOp, tile.owner).attributes:
        return None
    if loaded is None or not fills_tile(dst):
        return None
    last, user, until = access.place, access.op, float("inf")
    touched = analyses.accesses[tile]
    for number in range(bisect(touched, access.place, key=_PLACE), len(touched)):
        one = touched[number]
        begin, end, around = _around(one, op, analyses)
        if one.writes:
            until = begin
            break
        last, user = end, around
    return _Load(op, access.place, tile, source, loaded, last, user, until)


def _serves(first: _Load, second: _Load, accesses: Accesses, meetings: list[int]) -> bool:
    """Whether what has been loaded first can stand for what is loaded again."""
    if second.last >= first.until:
        return False
    if bisect(meetings, first.place) != bisect(meetings, second.place):
        return False
    if not is_free(second.op) or first.tile.owner.parent is not second.tile.owner.parent:
        return False
    used = accesses[second.tile]
    if used[0].place != second.place or second.until != float("inf"):
        return False
    # Behind a loop a tile holds what its last iteration has loaded, whatever happened since.
    if isinstance(second.op.parent_op(), KernelOp):
        return True
    return all(_is_in(second.op.parent, access.op) for access in used)


def _is_in(block: Block | None, op: Operation) -> bool:
    """Whether an operation is in a block, or in what is in it."""
    return block is not None and block.find_ancestor_op_in_block(op) is not None


def _fits(first: _Load, second: _Load, rooms: Rooms) -> bool:
    """Whether there is room for what was loaded first until what is loaded again is used last."""
    return rooms.of(first.tile).takes(first.tile, [second.tile], first.op, second.user)
