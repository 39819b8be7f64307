"""Tiles that share bytes: whoever writes there first waits for those who used them before.

Dependences inside of one allocation are found by `Accesses`. Two allocations at one address are in
use at different times of the program, and engines that run ahead of each other have to be told.
Of the tiles that have had some bytes only neighbours in time are looked at: the one that came
before them has been waited for already.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import SSAValue

from nkijit.dialects.effects import Effect
from nkijit.dialects.fields import Role
from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.tiles import info_of
from nkijit.dialects.views import base_of
from nkijit.passes.analysis.footprints import extent_of
from nkijit.passes.analysis.liveness import LiveRange
from nkijit.passes.lower.program import Placement

MOST_VIEWS = 64
"""Accesses to a tile that are told apart by the bytes that they touch."""


class Box(NamedTuple):
    """Partitions and bytes of them, both half-open, that hold all that a tile touches."""

    top: int
    bottom: int
    left: int
    right: int

    def meets(self, other: Box) -> bool:
        """True when both have a byte in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def covers(self, other: Box) -> bool:
        """True when the partitions of the other are among its own."""
        return self.top <= other.top and other.bottom <= self.bottom


def box_of(value: SSAValue, address: tuple[int, int]) -> Box:
    """Where a tile lies whose allocation begins at an address."""
    base = info_of(base_of(value))
    partition, byte = address
    whole = base_of(value) is value
    parts = None if whole else extent_of(value).split(base.partition_bytes)
    if parts is None:
        return Box(partition, partition + base.partitions, byte, byte + base.partition_bytes)
    rows, columns = parts
    return Box(
        partition + rows.low, partition + rows.high + 1, byte + columns.low, byte + columns.high + 1
    )


@dataclass(slots=True, eq=False)
class _Tenant:
    """An allocation with others that have bytes of it at other times."""

    live: LiveRange
    address: tuple[int, int]
    box: Box
    neighbours: list[_Tenant] = field(default_factory=list["_Tenant"])
    last: int = -1
    """The last event that has touched it."""
    accesses: dict[tuple[int, int], tuple[Box, int]] = field(
        default_factory=dict[tuple[int, int], tuple[Box, int]]
    )
    """The last event for each view and queue."""

    def meets(self, other: _Tenant) -> None:
        if other not in self.neighbours:
            self.neighbours.append(other)
            other.neighbours.append(self)


class Reuse:
    """Which events have touched the bytes of a tile when they were another tile's."""

    def __init__(self, placement: Placement):
        self._boxes: dict[int, Box] = {}
        self._tenants: dict[SSAValue, _Tenant] = {}
        for region in (MemoryRegion.sbuf, MemoryRegion.psum):
            tenants = [
                _Tenant(live, address, box_of(live.alloc.result, address))
                for live in placement.live.ranges
                if live.tile.region is region
                and (address := placement.addresses.get(live.alloc)) is not None
            ]
            _introduce(tenants, [(loop.start, loop.end) for loop in placement.live.loops])
            for tenant in tenants:
                if tenant.neighbours:
                    self._tenants[tenant.live.alloc.result] = tenant
        self._of_value: dict[int, _Tenant | None] = {}

    def tenants(self, done: Sequence[Effect]) -> list[tuple[_Tenant, SSAValue, Role]]:
        """The tiles that an instruction touches and whose allocations share bytes."""
        if not self._tenants:
            return []
        found: list[tuple[_Tenant, SSAValue, Role]] = []
        for _, value, role, _ in done:
            key = id(value)
            if key not in self._of_value:
                self._of_value[key] = self._tenants.get(base_of(value))
            tenant = self._of_value[key]
            if tenant is not None:
                found.append((tenant, value, role))
        return found

    def earlier(self, tenant: _Tenant, value: SSAValue, writers: Collection[int]) -> list[int]:
        """The last events of others on the bytes of a tile that is about to be written.

        `writers` are the last writers of these bytes as its own: who came before them has been
        waited for.
        """
        oldest = min(writers)
        found: list[int] = []
        box: Box | None = None
        for neighbour in tenant.neighbours:
            if neighbour.last <= oldest:
                continue
            if len(neighbour.accesses) > MOST_VIEWS:
                last: dict[int, int] = {}
                for (_, queue), (_, event) in neighbour.accesses.items():
                    last[queue] = max(event, last.get(queue, -1))
                found += [event for event in last.values() if event > oldest]
                continue
            box = box or self._box(tenant, value)
            found += [
                event
                for touched, event in neighbour.accesses.values()
                if event > oldest and touched.meets(box)
            ]
        return found

    def note(self, tenant: _Tenant, value: SSAValue, queue: int, event: int) -> None:
        """An event touches a tile."""
        tenant.last = event
        tenant.accesses[id(value), queue] = (self._box(tenant, value), event)

    def _box(self, tenant: _Tenant, value: SSAValue) -> Box:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = box_of(value, tenant.address)
        return box


# ------------------------------------------------------------------ neighbours in time


def _introduce(tenants: Sequence[_Tenant], loops: Sequence[tuple[int, int]]) -> None:
    """Make tenants known to those that had, or will have, their bytes next to them in time.

    `loops` are first and last positions of loops, inner ones in front of outer ones. A loop goes
    back to its start, so what begins there is next to what ends there.
    """
    line = _Line()
    ordered = sorted(tenants, key=lambda t: t.live.start)
    for tenant in ordered:
        line.move_in(tenant)
    for start, end in loops:
        inside = [t for t in ordered if start <= t.live.start and t.live.end <= end]
        around = _Line()
        for tenant in (*inside, *inside):
            around.move_in(tenant)


class _Line:
    """The bytes of a partition with the tenants that were last on them."""

    def __init__(self) -> None:
        self._cuts = [0]
        self._last: list[list[_Tenant]] = [[]]
        """From each cut to the next one."""

    def move_in(self, tenant: _Tenant) -> None:
        """The next tenant, after those who have been there."""
        first, behind = self._cut(tenant.box.left), self._cut(tenant.box.right)
        for index in range(first, behind):
            kept = [tenant]
            for other in self._last[index]:
                if other is tenant:
                    continue
                if other.box.meets(tenant.box):
                    tenant.meets(other)
                if other.live.overlaps(tenant.live) or not tenant.box.covers(other.box):
                    kept.append(other)
            self._last[index] = kept

    def _cut(self, byte: int) -> int:
        index = bisect_left(self._cuts, byte)
        if index == len(self._cuts) or self._cuts[index] != byte:
            self._cuts.insert(index, byte)
            self._last.insert(index, list(self._last[index - 1]))
        return index
