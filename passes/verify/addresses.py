"""Checks that tiles at fixed addresses do not share bytes while they are in use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.hazards import ADDRESS_OVERLAP
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, liveness
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_addresses(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each tile at a fixed address that overlaps another live tile.

    Tiles may use the same address one after the other. An instruction may also read a tile for the
    last time and write the next tile to the same address.
    """
    if not any("address" in op.properties for op in kernel.operations if type(op) is AllocOp):
        return
    found = liveness(kernel)
    placed = [live for live in found.ranges if live.alloc.address is not None]
    uses: _Uses | None = None
    in_use: list[LiveRange] = []
    for live in sorted(placed, key=lambda live: live.start):
        in_use = [other for other in in_use if other.end >= live.start]
        for other in in_use:
            if _share_bytes(other.alloc, live.alloc):
                uses = uses or _Uses(found)
                clash = uses.clash(other, live)
                if clash is not None:
                    yield _diagnose(found, clash)
                    break
        in_use.append(live)


def _share_bytes(one: AllocOp, two: AllocOp) -> bool:
    tiles = info_of(one.result), info_of(two.result)
    if tiles[0].region is not tiles[1].region:
        return False
    starts = [cast(tuple[int, int], op.fixed_address) for op in (one, two)]
    sizes = [(tile.partitions, tile.partition_bytes) for tile in tiles]
    return all(
        starts[0][axis] < starts[1][axis] + sizes[1][axis]
        and starts[1][axis] < starts[0][axis] + sizes[0][axis]
        for axis in (0, 1)
    )


@dataclass(slots=True)
class _Region:
    """The positions (inclusive) between which no other tile may overwrite a tile's bytes."""

    start: int
    end: int
    reads_last: bool
    """True if all accesses at the last position are reads."""


@dataclass(frozen=True, slots=True)
class _Clash:
    first: LiveRange
    second: LiveRange
    position: int
    """The position at which the second tile is first used."""
    needed: int
    """The first position from `position` on at which the first tile is in use."""


class _Uses:
    """The accesses to tiles at fixed addresses.

    If an instruction overwrites a tile completely, the earlier contents are dead, so the live range
    is split into regions there. The range is not split inside loops on the device, whose next
    iteration may need the contents.
    """

    def __init__(self, found: Liveness):
        self._regions: dict[SSAValue, list[_Region]] = {}
        self._loops = sorted(found.loops, key=lambda loop: loop.start - loop.end)
        ranges: dict[SSAValue, LiveRange] = {
            live.result: live for live in found.ranges if live.alloc.address is not None
        }
        loop_of = self._outermost()
        for position, op in enumerate(found.instructions):
            roles: dict[SSAValue, list[tuple[Role, bool]]] = {}
            for _, value, role, partial in effects(op):
                live = ranges.get(base_of(value))
                if live is not None:
                    whole = not partial and _is_whole(value, live)
                    roles.setdefault(live.result, []).append((role, whole))
            for base, done in roles.items():
                start, end = position, position
                loop = loop_of.get(position)
                live = ranges[base]
                carried = loop is not None and live.start <= loop[0] and live.end >= loop[1]
                if loop is not None and carried:
                    start, end = loop
                reads_last = not carried and all(role is Role.read for role, _ in done)
                regions = self._regions.setdefault(base, [])
                only_writes = loop is None and all(role is Role.write for role, _ in done)
                if not regions or (only_writes and any(whole for _, whole in done)):
                    regions.append(_Region(start, end, reads_last))
                else:
                    regions[-1].end, regions[-1].reads_last = end, reads_last

    def _outermost(self) -> dict[int, tuple[int, int]]:
        """For each position in a loop, the first and last position of the outermost loop."""
        inside: dict[int, tuple[int, int]] = {}
        for loop in self._loops:
            if loop.start not in inside:
                span = (loop.start, loop.end)
                inside.update(dict.fromkeys(range(loop.start, loop.end + 1), span))
        return inside

    def clash(self, one: LiveRange, two: LiveRange) -> _Clash | None:
        """Return where a tile is first used while an overlapping tile is live; None if nowhere."""
        regions = [
            (region, live, other)
            for live, other in ((one, two), (two, one))
            for region in self._regions[live.result]
        ]
        regions.sort(key=lambda item: (item[0].start, item[0].end))
        last: tuple[_Region, LiveRange] | None = None
        for region, live, _ in regions:
            if last is not None and last[1] is not live:
                before = last[0]
                overlap = before.end > region.start
                if overlap or (before.end == region.start and not before.reads_last):
                    return _Clash(last[1], live, region.start, before.end)
            if last is None or region.end >= last[0].end:
                last = region, live
        return None


def _is_whole(value: SSAValue, live: LiveRange) -> bool:
    tile, base = info_of(value), live.tile
    distinct = all(s != 0 or n == 1 for s, n in zip(tile.strides, tile.shape, strict=True))
    same = tile.size * tile.dtype.bits == base.size * base.dtype.bits
    return tile.indirection is None and distinct and same


def _diagnose(found: Liveness, clash: _Clash) -> Diagnostic:
    first, second = clash.first, clash.second
    names = [live.result.name_hint or "?" for live in (first, second)]
    op, needed = found.instructions[clash.position], found.instructions[clash.needed]
    related: list[tuple[Operation, str]] = [
        (live.alloc, f"'{name}' is {live.tile} at {live.alloc.fixed_address}")
        for name, live in zip(names, (first, second), strict=True)
    ]
    if needed is not op:
        related.append((needed, f"'{names[0]}' is in use until here"))
    return diagnose(
        ADDRESS_OVERLAP,
        op,
        f"uses '{names[1]}', which shares bytes with '{names[0]}' while that is in use",
        related=related,
    )
