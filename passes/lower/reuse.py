"""Tiles that share bytes: what writes there first waits for what has used them before.

Dependences inside of one allocation are found by `Accesses`. Two allocations at one address are in
use at different times of the program, and engines that run ahead of each other have to wait.
Of the tiles that have had some bytes only neighbours in time are looked at: what wrote there in
between has waited for what came before it. Bytes of a tile that nothing touches do not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.views import views_of
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.bytes.bounding_boxes import BoundingBox, bounding_box_of
from nkijit.passes.analysis.bytes.cuts import Cuts
from nkijit.passes.analysis.writes.liveness import LiveRange
from nkijit.passes.lower.program import Placement

MOST_VIEWS = 64
"""Accesses to a tile that are distinguished by the bytes that they touch."""


class Tenant:
    """An allocation with others that have bytes of it at other times."""

    __slots__ = (
        "accesses",
        "address",
        "base",
        "box",
        "boxes",
        "last",
        "live",
        "neighbours",
        "parts",
    )

    def __init__(
        self,
        base: SSAValue,
        live: LiveRange,
        address: tuple[int, int],
        box: BoundingBox,
        boxes: dict[int, BoundingBox],
        parts: Sequence[tuple[BoundingBox, bool]],
    ):
        """
        Args:
            base: the value of the allocation.
            live: when it is in use.
            address: where it begins.
            box: where it lies.
            boxes: where views of it lie that are touched, by their identities.
            parts: what is touched of it, and whether that is written: such bytes have been
                waited for.
        """
        self.base, self.live, self.address = base, live, address
        self.box, self.boxes, self.parts = box, boxes, parts
        self.neighbours: dict[Tenant, None] = {}
        self.last = -1
        """The last event that has touched it."""
        self.accesses: dict[tuple[int, int], tuple[BoundingBox, int]] = {}
        """The last event for each view, by its identity, and queue; and where the view lies."""

    def meets(self, other: Tenant) -> None:
        """Become neighbours."""
        self.neighbours[other] = other.neighbours[self] = None

    def box_of(self, value: SSAValue) -> BoundingBox:
        """Where the allocation, or a view of it, lies."""
        if value is self.base:
            return self.box
        found = self.boxes.get(id(value))
        return bounding_box_of(value, self.address) if found is None else found

    def earlier(self, box: BoundingBox, oldest: int) -> list[int]:
        """The last events of others on some of its bytes, which are about to be written.

        `oldest` is the first of those that have written these bytes last as its own: what came
        before it has been waited for.
        """
        found: list[int] = []
        for neighbour in self.neighbours:
            if neighbour.last <= oldest:
                continue
            accesses = neighbour.accesses
            if len(accesses) > MOST_VIEWS:
                last: dict[int, int] = {}
                for (_, queue), (_, event) in accesses.items():
                    last[queue] = max(event, last.get(queue, -1))
                found += [event for event in last.values() if event > oldest]
                continue
            # The whole of one has bytes in common with the whole of the other.
            whole = neighbour.box if box is self.box else None
            for touched, event in accesses.values():
                if event > oldest and (touched is whole or touched.meets(box)):
                    found.append(event)
        return found


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


def _touched(instructions: Iterable[Operation]) -> dict[int, bool]:
    """What instructions touch, by the identity of values, and whether they write it."""
    found: dict[int, bool] = {}
    for op in instructions:
        for _, value, role, _ in effects(op):
            if role is not Role.read:
                found[id(value)] = True
            else:
                found.setdefault(id(value), False)
    return found


def _tenant(live: LiveRange, address: tuple[int, int], touched: Mapping[int, bool]) -> Tenant:
    base, tile, (partition, byte) = live.result, live.tile, address
    right = byte + tile.partition_bytes
    whole = made(BoundingBox, (partition, partition + tile.partitions, byte, right))
    written = touched.get(id(base))
    if written:
        return Tenant(base, live, address, whole, {}, [(whole, True)])
    boxes = {} if written is None else {whole: False}
    of_views: dict[int, BoundingBox] = {}
    for value in views_of(base):
        written = touched.get(id(value))
        if written is not None:
            box = of_views[id(value)] = bounding_box_of(value, address)
            boxes[box] = boxes.get(box, False) or written
    if boxes.get(whole):
        return Tenant(base, live, address, whole, of_views, [(whole, True)])
    parts = [(box, True) for box in _joined([b for b, written in boxes.items() if written])]
    parts += [(box, False) for box, written in boxes.items() if not written]
    return Tenant(base, live, address, whole, of_views, parts)


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
        self._tenants: dict[int, Tenant] = {}
        """By the identity of the allocation's value, as hashing one is a call."""
        touched = _touched(placement.live.instructions)
        for region in (MemoryRegion.sbuf, MemoryRegion.psum):
            placed = [
                (live, address)
                for live in placement.live.ranges
                if live.tile.region is region
                and (address := placement.addresses.get(live.alloc)) is not None
            ]
            tenants = [_tenant(live, address, touched) for live, address in _sharing(placed)]
            _introduce(tenants, [(loop.start, loop.end) for loop in placement.live.loops])
            for tenant in tenants:
                if tenant.neighbours:
                    self._tenants[id(tenant.base)] = tenant

    def tenant_of(self, base: SSAValue) -> Tenant | None:
        """An allocation, if it shares bytes."""
        return self._tenants.get(id(base))


# ------------------------------------------------------------------ neighbours in time


def _introduce(tenants: Sequence[Tenant], loops: Sequence[tuple[int, int]]) -> None:
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
        self._last: Cuts[list[Tenant]] = Cuts([])

    def move_in(self, tenant: Tenant) -> None:
        """The next tenant, after those that have been there."""
        last = self._last
        for box, written in tenant.parts:
            for index in last.cut_out(box.left, box.right):
                before = last.values[index]
                kept = [tenant]
                for other in before:
                    if other is tenant:
                        continue
                    if other.box.meets(tenant.box):
                        tenant.meets(other)
                    has_gone = written and box.spans(other.box)
                    if not has_gone or other.live.overlaps(tenant.live):
                        kept.append(other)
                last.values[index] = kept
