"""Tiles that share bytes: what writes there first waits for what has used them before.

Dependences inside of one allocation are found by `Accesses`. Two allocations at one address are in
use at different times of the program, and engines that run ahead of each other have to wait.
Of the tiles that have had some bytes only neighbours in time are looked at: what wrote there in
between has waited for what came before it. Bytes of a tile that nothing touches do not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Effect, role_of
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.views import base_of, views_of
from nkijit.passes.analysis.bounding_boxes import BoundingBox, bounding_box_of
from nkijit.passes.analysis.cuts import Cuts
from nkijit.passes.analysis.liveness import LiveRange
from nkijit.passes.lower.program import Placement

MOST_VIEWS = 64
"""Accesses to a tile that are distinguished by the bytes that they touch."""


@dataclass(slots=True, eq=False)
class _Tenant:
    """An allocation with others that have bytes of it at other times."""

    live: LiveRange
    address: tuple[int, int]
    box: BoundingBox
    parts: list[tuple[BoundingBox, bool]]
    """What is touched of it, and whether that is written: such bytes have been waited for."""
    neighbours: dict[_Tenant, None] = field(default_factory=dict["_Tenant", None])
    last: int = -1
    """The last event that has touched it."""
    accesses: dict[tuple[int, int], tuple[SSAValue, int]] = field(
        default_factory=dict[tuple[int, int], tuple[SSAValue, int]]
    )
    """The last event for each view, by its identity, and queue."""

    def meets(self, other: _Tenant) -> None:
        self.neighbours[other] = other.neighbours[self] = None


def _sharing(
    placed: Sequence[tuple[LiveRange, tuple[int, int]]],
) -> list[tuple[LiveRange, tuple[int, int]]]:
    """The tiles that have a byte number in common with another one, in the order given."""
    order = sorted(range(len(placed)), key=lambda i: placed[i][1][1])
    shared: set[int] = set()
    furthest, reached = -1, 0
    for index in order:
        live, (_, left) = placed[index]
        if left < reached:
            shared |= {furthest, index}
        right = left + live.tile.partition_bytes
        if right > reached:
            furthest, reached = index, right
    return [placed[index] for index in sorted(shared)]


def _tenant(live: LiveRange, address: tuple[int, int]) -> _Tenant:
    base = live.alloc.result
    whole = bounding_box_of(base, address)
    boxes: dict[BoundingBox, bool] = {}
    roles = _roles(base)
    if roles:
        boxes[whole] = roles != _READ
    for value in () if boxes.get(whole) else views_of(base):
        roles = _roles(value)
        if roles:
            box = bounding_box_of(value, address)
            boxes[box] = boxes.get(box, False) or roles != _READ
    if boxes.get(whole):
        return _Tenant(live, address, whole, [(whole, True)])
    parts = [(box, True) for box in _joined([b for b, written in boxes.items() if written])]
    parts += [(box, False) for box, written in boxes.items() if not written]
    return _Tenant(live, address, whole, parts)


_READ = {Role.read}


def _roles(value: SSAValue) -> set[Role]:
    """What instructions do with a tile."""
    return {role for use in value.uses if (role := role_of(use)) is not None}


def _joined(boxes: Sequence[BoundingBox]) -> list[BoundingBox]:
    """Boxes without seams between them: beside each other, then below each other."""
    if len(boxes) < 2:
        return [*boxes]
    found: list[BoundingBox] = []
    for box in sorted(boxes):
        last = found[-1] if found else box
        if box[:2] == last[:2] and box.left <= last.right and found:
            found[-1] = last._replace(right=max(last.right, box.right))
        else:
            found.append(box)
    rows: list[BoundingBox] = []
    for box in sorted(found, key=lambda b: (b.left, b.right, b.top, b.bottom)):
        last = rows[-1] if rows else box
        if box[2:] == last[2:] and box.top <= last.bottom and rows:
            rows[-1] = last._replace(bottom=max(last.bottom, box.bottom))
        else:
            rows.append(box)
    return rows


class Reuse:
    """Which events have touched the bytes of a tile when they were another tile's."""

    def __init__(self, placement: Placement):
        self._boxes: dict[int, BoundingBox] = {}
        """Where tiles lie that share bytes, by the identity of their values."""
        self._tenants: dict[SSAValue, _Tenant] = {}
        for region in (MemoryRegion.sbuf, MemoryRegion.psum):
            placed = [
                (live, address)
                for live in placement.live.ranges
                if live.tile.region is region
                and (address := placement.addresses.get(live.alloc)) is not None
            ]
            tenants = [_tenant(live, address) for live, address in _sharing(placed)]
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

        `writers` are the last writers of these bytes as its own: what came before them has been
        waited for.
        """
        oldest = min(writers)
        found: list[int] = []
        box: BoundingBox | None = None
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
                if event > oldest and self._box(neighbour, touched).meets(box)
            ]
        return found

    def note(self, tenant: _Tenant, value: SSAValue, queue: int, event: int) -> None:
        """An event touches a tile."""
        tenant.last = event
        tenant.accesses[id(value), queue] = (value, event)

    def _box(self, tenant: _Tenant, value: SSAValue) -> BoundingBox:
        box = self._boxes.get(id(value))
        if box is None:
            box = self._boxes[id(value)] = bounding_box_of(value, tenant.address)
        return box


# ------------------------------------------------------------------ neighbours in time


def _introduce(tenants: Sequence[_Tenant], loops: Sequence[tuple[int, int]]) -> None:
    """Make tenants known to those that had, or will have, their bytes next to them in time.

    `loops` are first and last positions of loops, inner ones before outer ones. A loop goes
    back to its start, so what begins there is next to what ends there.
    """
    line = _Line()
    ordered = sorted(tenants, key=lambda t: t.live.start)
    starts = [tenant.live.start for tenant in ordered]
    for tenant in ordered:
        line.move_in(tenant)
    for start, end in loops:
        begun = ordered[bisect_left(starts, start) : bisect_right(starts, end)]
        inside = [t for t in begun if t.live.end <= end]
        around = _Line()
        for tenant in (*inside, *inside):
            around.move_in(tenant)


class _Line:
    """The bytes of a partition with the tenants that were last on them."""

    def __init__(self) -> None:
        self._last: Cuts[list[_Tenant]] = Cuts([])

    def move_in(self, tenant: _Tenant) -> None:
        """The next tenant, after those that have been there."""
        last = self._last
        for box, written in tenant.parts:
            for index in last.cut_out(box.left, box.right):
                kept = [tenant]
                for other in last.values[index]:
                    if other is tenant:
                        continue
                    if other.box.meets(tenant.box):
                        tenant.meets(other)
                    has_gone = written and box.spans(other.box)
                    if not has_gone or other.live.overlaps(tenant.live):
                        kept.append(other)
                last.values[index] = kept
