"""`share-loads`: removes loads of data that is still on chip.

A load is removed if a tile holds the same elements of HBM, they have not been written since, and
one of the following holds:

- The tile is still in use at the load. Merging the two tiles then needs no additional memory.
- The same statement loaded the same elements the last time it ran. Then the statement is in a
  Python loop and does not depend on the loop index. A compiler would load before the loop, if
  memory allows.

Readers of the removed load's tile read the other tile, whose lifetime is extended to their last
use.

Other repeated loads stay: published times of kernels that load a tile once per use show that the
vendor's compiler keeps these loads. The exception is the classic API on NeuronCore-v3 and newer.
There, a load is also removed if its statement loaded the same elements at any earlier time and
memory allows. The source is published times of a kernel with a matmul in three Python loops, which
loads both tiles in the innermost loop (allenkchau/trainium-kernel-fusion). The DMA engines could
not have moved that many bytes in these times.
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
from nkijit.passes.compile.analyses.memory_use import MemoryUses
from nkijit.passes.compile.analyses.merge import Tiles
from nkijit.passes.compile.passes.list_schedule import MAX_USE

_PLACE = attrgetter("place")
_MAX_CANDIDATES = 64
"""The largest number of candidates for sharing per tensor, if the kernel writes the tensor."""


@dataclass(slots=True)
class _Load:
    """A load of a part of an HBM tensor that fills a whole tile."""

    op: DmaCopyOp
    place: int
    tile: SSAValue
    """The allocation that the load fills completely."""
    source: TileInfo
    loaded: TileInfo
    last: int
    """The program position of the last use of the loaded contents."""
    user: Operation
    """The operation of the last use: an instruction or a loop."""
    until: float
    """The program position of the next write to the tile; inf if there is none."""


def share_loads(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Remove redundant loads of a kernel; returns the number of removed loads."""
    analyses = analyses or Analyses(kernel)
    accesses = analyses.accesses
    meetings: list[int] = []
    if not analyses.of_kind.keys().isdisjoint(WAITING):
        # A load after a meeting must see the writes of other cores.
        meetings = [n for n, op in enumerate(analyses.operations) if type(op) in WAITING]
    tiles, memory = Tiles(analyses), MemoryUses(kernel, MAX_USE)
    shares_any = kernel.classic is not None and kernel.target.version >= nc_version.gen3
    left_out = 0
    for base, touched in accesses.items():
        if info_of(base).region.on_chip:
            continue
        is_read_only = not any(access.writes for access in touched)
        held: dict[object, _Load] = {}
        of_statement: dict[LocationAttr, object] = {}
        """The key of each statement's latest load."""
        for access in touched:
            if access.writes:
                written = [info_of(e.value) for e in access.effects if e.role is not Role.read]
                for key in [
                    key for key, load in held.items() if _overlaps_any(load.source, written)
                ]:
                    del held[key]
            load = _load(access, analyses)
            if load is None:
                continue
            key = load.source, load.loaded, load.tile.type, load.op.parent
            first, statement = held.get(key), load.op.location
            again = statement != UNKNOWN_LOC and (
                of_statement.get(statement) == key
                or (shares_any and first is not None and first.op.location == statement)
            )
            of_statement[statement] = key
            if (
                first is not None
                and _can_replace(first, load, accesses, meetings)
                and (first.last >= load.place or (again and _fits(first, load, memory)))
            ):
                tiles.merge(first.tile, load.tile, load.op)
                if load.last > first.last:
                    first.last, first.user = load.last, load.user
                left_out += 1
                continue
            held.pop(key, None)
            held[key] = load
            if len(held) > _MAX_CANDIDATES and not (shares_any and is_read_only):
                del held[next(iter(held))]
    if left_out:
        analyses.changed()
    return left_out


def _places_of(access: Access, load: DmaCopyOp, analyses: Analyses) -> tuple[int, int, Operation]:
    """Return the first and last program position at which an access may run, seen from a load.

    An access in a loop that does not contain the load runs until the outermost such loop ends. The
    third result is that loop, or the access itself if there is no such loop.
    """
    outermost: Operation = access.op
    while outermost.parent is not load.parent:
        around = outermost.parent_op()
        if around is None:  # the load is in a loop that has ended
            return access.place, access.place, access.op
        outermost = around
    if not outermost.regions:
        return access.place, access.place, access.op
    first, last = analyses.ends_of(outermost)
    return first, last, outermost if isinstance(outermost, (ForOp, WhileOp)) else access.op


def _overlaps_any(source: TileInfo, written: list[TileInfo]) -> bool:
    return any(source.overlaps(tile) for tile in written)


def _load(access: Access, analyses: Analyses) -> _Load | None:
    """Return an access as a `_Load`; None unless it fills a whole tile without a fixed address."""
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
        begin, end, around = _places_of(one, op, analyses)
        if one.writes:
            until = begin
            break
        last, user = end, around
    return _Load(op, access.place, tile, source, loaded, last, user, until)


def _can_replace(first: _Load, second: _Load, accesses: Accesses, meetings: list[int]) -> bool:
    """Whether the tile of the first load can replace the tile of the second load.

    `meetings`: the positions at which cores wait for each other.
    """
    if second.last >= first.until:
        return False
    if bisect(meetings, first.place) != bisect(meetings, second.place):
        return False
    if not is_free(second.op) or first.tile.owner.parent is not second.tile.owner.parent:
        return False
    used = accesses[second.tile]
    if used[0].place != second.place or second.until != float("inf"):
        return False
    # After a loop, a tile holds the data of the last iteration, even if the source has been
    # written since. So outside the kernel's block, no use may be outside the load's block.
    if isinstance(second.op.parent_op(), KernelOp):
        return True
    return all(_is_in(second.op.parent, access.op) for access in used)


def _is_in(block: Block | None, op: Operation) -> bool:
    """Whether an operation is in a block, directly or nested."""
    return block is not None and block.find_ancestor_op_in_block(op) is not None


def _fits(first: _Load, second: _Load, memory: MemoryUses) -> bool:
    """Extend the first tile's lifetime to the last use of the second tile.

    Returns False if memory does not allow it.
    """
    return memory.of(first.tile).extend(first.tile, [second.tile], first.op, second.user)
