"""`share-loads`: what is on chip and still in use is not loaded again.

A load is left out if a tile holds the same elements of HBM, they have not been written since, and
the tile is in use anyway when the load comes. Those who read what was loaded read that tile, which
stays in use for as long as they need it. In no place more memory is needed than before, as two
tiles with the same contents become one.

What is loaded again later is loaded again: published times of kernels that load a tile once for
each use show that the vendor's compiler leaves that so.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.compile.accesses import Access, Accesses, elements_of, is_free, is_own
from nkijit.passes.compile.analyses import Analyses

_MOST_HELD = 64
"""Loads of one tensor that are looked at side by side."""


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
        meetings = [n for n, op in enumerate(kernel.operations) if type(op) in WAITING]
    tiles = _Tiles(analyses)
    left_out = 0
    for base, touched in accesses.items():
        if info_of(base).region.on_chip:
            continue
        held: dict[object, _Load] = {}
        for access in touched:
            if access.writes:
                written = [info_of(e.value) for e in access.effects if e.role is not Role.read]
                for key in [key for key, load in held.items() if _meets(load.source, written)]:
                    del held[key]
            load = _load(access, accesses)
            if load is None:
                continue
            key = load.source, load.loaded, load.tile.type, load.op.parent
            first = held.get(key)
            if first is not None and _serves(first, load, accesses, meetings):
                _share(first, load, tiles)
                left_out += 1
                continue
            held.pop(key, None)
            held[key] = load
            if len(held) > _MOST_HELD:
                del held[next(iter(held))]
    if left_out:
        analyses.changed()
    return left_out


def _meets(source: TileInfo, written: list[TileInfo]) -> bool:
    return any(source.overlaps(tile) for tile in written)


def _load(access: Access, accesses: Accesses) -> _Load | None:
    """The load that an access is, if it fills a whole tile."""
    op = access.op
    if not isinstance(op, DmaCopyOp):
        return None
    src, dst = op.required("src"), op.required("dst")
    tile = base_of(dst)
    source, loaded = elements_of(src), elements_of(dst)
    if not is_own(tile) or source is None or loaded is None or cast(AllocOp, tile.owner).attributes:
        return None
    if loaded.size != info_of(tile).size or loaded.dtype is not info_of(tile).dtype:
        return None
    last, until = access.place, float("inf")
    for one in accesses[tile]:
        if one.place > access.place:
            if one.writes:
                until = one.place
                break
            last = one.place
    return _Load(op, access.place, tile, source, loaded, last, until)


def _serves(first: _Load, second: _Load, accesses: Accesses, meetings: list[int]) -> bool:
    """Whether what has been loaded first can stand for what is loaded again."""
    if first.last < second.place or second.last >= first.until:
        return False
    if bisect(meetings, first.place) != bisect(meetings, second.place):
        return False
    if not is_free(second.op) or first.tile.owner.parent is not second.tile.owner.parent:
        return False
    used = accesses[second.tile]
    return used[0].place == second.place and second.until == float("inf")


class _Tiles:
    """The order of allocations in the program, which is asked for where loads are left out."""

    def __init__(self, analyses: Analyses):
        self._analyses = analyses

    @cached_property
    def places(self) -> dict[Operation, int]:
        """The place of each among them."""
        return {op: place for place, op in enumerate(self._analyses.of_kind.get(AllocOp, ()))}


def _share(first: _Load, second: _Load, tiles: _Tiles) -> None:
    """Let those who read a tile read another one."""
    kept, gone = cast(AllocOp, first.tile.owner), cast(AllocOp, second.tile.owner)
    places = tiles.places
    if places[gone] < places[kept]:
        # Views of the tile that goes may stand before the other tile.
        block = kept.parent
        assert block is not None
        kept.detach()
        block.insert_op_before(kept, gone)
        places[kept] = places[gone]
    Rewriter.erase_op(second.op)
    second.tile.replace_all_uses_with(first.tile)
    Rewriter.erase_op(gone)
    first.last = max(first.last, second.last)
