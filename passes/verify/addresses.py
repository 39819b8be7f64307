"""Checks that tiles at fixed addresses do not share bytes while they are in use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.hazards import ADDRESS_OVERLAP
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, is_whole, liveness
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_addresses(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each tile at a fixed address that overlaps another tile in use.

    Tiles may use the same address one after the other. An instruction may also read a tile for the
    last time and write the next tile to the same address.
    """
    if not any("address" in op.properties for op in kernel.operations if type(op) is AllocOp):
        return
    found = liveness(kernel)
    boxes = {live: box for live in found.ranges if (box := _box(live.alloc)) is not None}
    in_use = _InUse()
    ranges = (_Period(live, box, live.start, live.end) for live, box in boxes.items())
    if not any(in_use.enter(period) for period in sorted(ranges, key=lambda one: one.start)):
        return
    reported: set[LiveRange] = set()
    in_use = _InUse()
    for period in sorted(_periods(found, boxes), key=lambda one: (one.start, one.end)):
        for other in in_use.enter(period):
            if other.live is not period.live and other.clashes_with(period):
                second = max(period.live, other.live, key=lambda live: live.start)
                if second not in reported:
                    reported.add(second)
                    yield _diagnose(found, other, period)


@dataclass(frozen=True, slots=True)
class _Box:
    """The memory of a tile: its partitions, and its bytes in each of them."""

    region: MemoryRegion
    partitions: tuple[int, int]
    byte_range: tuple[int, int]

    def meets(self, other: _Box) -> bool:
        return (
            self.region is other.region
            and self.byte_range[0] < other.byte_range[1]
            and other.byte_range[0] < self.byte_range[1]
            and self.partitions[0] < other.partitions[1]
            and other.partitions[0] < self.partitions[1]
        )


def _box(alloc: AllocOp) -> _Box | None:
    """Return the memory of a tile at a fixed address; None for other tiles."""
    address, tile = alloc.fixed_address, info_of(alloc.result)
    if address is None:
        return None
    partition, byte = address
    return _Box(
        tile.region,
        (partition, partition + tile.partitions),
        (byte, byte + tile.partition_bytes),
    )


@dataclass(slots=True, eq=False)
class _Period:
    """The positions (inclusive) between which no other tile may overwrite a tile's bytes."""

    live: LiveRange
    box: _Box
    start: int
    end: int
    reads_last: bool = False
    """True if all accesses at the last position are reads."""

    def clashes_with(self, later: _Period) -> bool:
        """True if a period that starts later begins while this one lasts."""
        return self.end > later.start or (self.end == later.start and not self.reads_last)


class _InUse:
    """The tiles in use at a position, found by their bytes."""

    _PIECE = 2048
    """Bytes per entry of the index of tiles: the size of a PSUM bank."""

    def __init__(self) -> None:
        self._pieces: defaultdict[tuple[MemoryRegion, int], list[_Period]] = defaultdict(list)

    def enter(self, period: _Period) -> list[_Period]:
        """Add a period; return the earlier periods that share bytes with it and have not ended.

        Periods are added in the order of their starts.
        """
        box = period.box
        first, end = box.byte_range
        sharing: dict[_Period, None] = {}
        for piece in range(first // self._PIECE, (end - 1) // self._PIECE + 1):
            entries = self._pieces[box.region, piece]
            entries[:] = [other for other in entries if other.end >= period.start]
            sharing.update(dict.fromkeys(other for other in entries if other.box.meets(box)))
            entries.append(period)
        return list(sharing)


def _periods(found: Liveness, boxes: Mapping[LiveRange, _Box]) -> list[_Period]:
    """Return the periods in which tiles at fixed addresses hold contents that are needed.

    If an instruction overwrites a tile completely, the earlier contents are dead, so the live range
    is split into periods there. The range is not split inside loops on the device, whose next
    iteration may need the contents.
    """
    periods: list[_Period] = []
    last: dict[SSAValue, _Period] = {}
    ranges: dict[SSAValue, LiveRange] = {live.result: live for live in boxes}
    loop_of = _outermost_loops(found)
    for position, op in enumerate(found.instructions):
        roles: dict[SSAValue, list[tuple[Role, bool]]] = {}
        for _, value, role, partial in effects(op):
            live = ranges.get(base_of(value))
            if live is not None:
                whole = not partial and is_whole(value, live.tile)
                roles.setdefault(live.result, []).append((role, whole))
        for base, done in roles.items():
            start, end = position, position
            loop = loop_of.get(position)
            live = ranges[base]
            carried = loop is not None and live.start <= loop[0] and live.end >= loop[1]
            if loop is not None and carried:
                start, end = loop
            reads_last = not carried and all(role is Role.read for role, _ in done)
            only_writes = loop is None and all(role is Role.write for role, _ in done)
            if base not in last or (only_writes and any(whole for _, whole in done)):
                last[base] = _Period(live, boxes[live], start, end, reads_last)
                periods.append(last[base])
            else:
                last[base].end, last[base].reads_last = end, reads_last
    return periods


def _outermost_loops(found: Liveness) -> dict[int, tuple[int, int]]:
    """For each position in a loop, the first and last position of the outermost loop."""
    inside: dict[int, tuple[int, int]] = {}
    for loop in sorted(found.loops, key=lambda loop: loop.start - loop.end):
        if loop.start not in inside:
            span = (loop.start, loop.end)
            inside.update(dict.fromkeys(range(loop.start, loop.end + 1), span))
    return inside


def _diagnose(found: Liveness, before: _Period, period: _Period) -> Diagnostic:
    """Return the finding about a tile whose first use overlaps the use of the tile `before`."""
    first, second = before.live, period.live
    names = [live.result.name_hint or "?" for live in (first, second)]
    op, needed = found.instructions[period.start], found.instructions[before.end]
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
