"""Dependences between tiles that share bytes: a write waits for accesses to the earlier tile.

`Accesses` finds the dependences within one allocation. Two allocations at one address are in use at
different times of the program, so engines that run ahead must wait. Only the tiles that use the
bytes directly before or after a tile are considered: the writes of tiles in between have waited for
earlier tiles. Bytes of a tile that nothing accesses do not count.
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
"""The largest number of accesses to a tile whose bytes are compared individually."""


class Tenant:
    """An allocation that shares bytes with its neighbours: allocations in use at other times."""

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
        """Create a tenant without neighbours.

        Args:
            base: the value of the allocation.
            live: the live range of the allocation.
            address: the (partition, byte) of the allocation.
            box: the bounding box of the allocation.
            boxes: the bounding boxes of the accessed views, by the `id` of their values.
            parts: the bounding box of each access, and whether the access is a write. A write waits
                for all earlier tenants of its bytes, so that later tenants need not.
        """
        self.base, self.live, self.address = base, live, address
        self.box, self.boxes, self.parts = box, boxes, parts
        self.neighbours: dict[Tenant, None] = {}
        self.last = -1
        """The last event that accessed the allocation."""
        self.accesses: dict[tuple[int, int], tuple[BoundingBox, int]] = {}
        """For each accessed view (`id`) and queue, the view's bounding box and the last event."""

    def meets(self, other: Tenant) -> None:
        """Record that two tenants use the same bytes directly after each other (neighbours)."""
        self.neighbours[other] = other.neighbours[self] = None

    def box_of(self, value: SSAValue) -> BoundingBox:
        """Return the bounding box of the allocation or of a view of it."""
        if value is self.base:
            return self.box
        found = self.boxes.get(id(value))
        return bounding_box_of(value, self.address) if found is None else found

    def earlier(self, box: BoundingBox, oldest: int) -> list[int]:
        """Return the last events of neighbours that accessed `box`, which is about to be written.

        `oldest`: the oldest event that last wrote a byte of `box` in this allocation. It has waited
        for all earlier events.
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
            # A whole allocation shares bytes with its neighbours by definition.
            whole = neighbour.box if box is self.box else None
            for touched, event in accesses.values():
                if event > oldest and (touched is whole or touched.meets(box)):
                    found.append(event)
        return found


def _sharing(
    placed: Sequence[tuple[LiveRange, tuple[int, int]]],
) -> list[tuple[LiveRange, tuple[int, int]]]:
    """Return the tiles that share bytes with another tile, in the order of the input."""
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
    """Return the values that instructions access, by `id`, with True for written values."""
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
    """Merge adjacent boxes: first boxes of the same partitions, then boxes of the same bytes."""
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
    """The tiles of a core that share bytes with other tiles."""

    def __init__(self, placement: Placement):
        self._tenants: dict[int, Tenant] = {}
        """The tenant of each allocation, by the value's `id`, as hashing a value costs a call."""
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
        """Return the tenant of an allocation; None if it shares no bytes."""
        return self._tenants.get(id(base))


# ------------------------------------------------------------------ neighbours in time


def _introduce(tenants: Sequence[Tenant], loops: Sequence[tuple[int, int]]) -> None:
    """Link tenants that use the same bytes directly after each other.

    `loops`: the first and last positions of loops, inner loops first. A loop repeats, so the
    tenants at the start of a loop are also neighbours of the tenants at its end.
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
    """The bytes of a partition, with the last tenants of each byte."""

    def __init__(self) -> None:
        self._last: Cuts[list[Tenant]] = Cuts([])

    def move_in(self, tenant: Tenant) -> None:
        """Add the tenant that uses the bytes next."""
        last = self._last
        for box, written in tenant.parts:
            for index in last.cut_out(box.left, box.right):
                before = last.values[index]
                remaining = [tenant]
                for other in before:
                    if other is tenant:
                        continue
                    if other.box.meets(tenant.box):
                        tenant.meets(other)
                    is_replaced = written and box.spans(other.box)
                    if not is_replaced or other.live.overlaps(tenant.live):
                        remaining.append(other)
                last.values[index] = remaining
