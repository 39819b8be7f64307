"""`list-schedule`: orders the instructions of each region with a list scheduler.

Engines execute their queues in order, so an instruction that waits delays all later ones of its
queue. The scheduler simulates each region on engines that run any ready instruction, with durations
from the cost model. The order in which instructions start becomes their order in the program. Two
priorities among ready instructions are tried: program order, and the longest chain of dependent
instructions. The faster order is used; the author's order stays if neither is faster.

An instruction that needs a new tile starts only while all tiles in use fit into a part of the
memory; the rest allows for gaps between allocations. Instructions far ahead of the oldest one that
has not started get a smaller part, because they could otherwise fill the memory that the oldest one
needs. An order that runs out of memory is discarded. Nothing moves across the boundaries of regions
(see `regions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from xdsl.ir import Block, Operation

from nkijit.dialects.declare.creation import put_in_order
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.dialects.tuples import made
from nkijit.dialects.walks import directly_in
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.regions import Region, declares
from nkijit.passes.lower.program import Queue

ROOM = 0.75
"""The fraction of SBUF that tiles may use at a time; the rest allows for gaps between them."""
RESERVE = 0.15
"""A further fraction of SBUF, for the next `_NEXT` instructions in program order."""
NEAR = 1.005
"""An order within this factor of the busiest resource's time is good enough: stop searching."""
AHEAD = 1.02
"""The author's order is simulated without memory limits.

So the first order that respects these limits may take up to this factor of its time.
"""
_NEXT = 64
"""The number of instructions, from the oldest one that has not started, that may use `RESERVE`."""
_LOOKED_AT = 8
"""The number of ready instructions of a lane that are checked for one that fits into memory."""


def list_schedule(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Reorder the instructions of a kernel; returns the number of moved instructions.

    `analyses`: cached analyses of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    stretches = analyses.stretches
    moved = 0
    for block, each in stretches.in_blocks:
        changed = 0
        for stretch in each:
            if len(stretch.ops) < 3:
                stretch.order = None
                continue
            if stretch.order is None:
                stretches.prepare(stretch)
                _, stretch.order = best_order(stretch, stretch.costs, analyses)
            changed += sum(number != place for place, number in enumerate(stretch.order))
        if changed:
            _arrange(block, each)
        moved += changed
    if moved:
        analyses.changed()
    return moved


def _arrange(block: Block, stretches: Sequence[Region]) -> None:
    """Reorder the operations of a block, with each declaration before its first use."""
    ops = list(directly_in(block))
    # HBM tensors keep their order: it says which tensors of other cores they correspond to.
    placed: list[Operation] = [
        op for op in ops if type(op) is AllocOp and not info_of(op.result).region.on_chip
    ]
    first = set(map(id, placed))
    declared = {id(op): op for op in ops if declares(type(op)) and id(op) not in first}
    order: list[Operation] = []
    for stretch in stretches:
        numbers = range(len(stretch.ops)) if stretch.order is None else stretch.order
        order += [stretch.ops[number] for number in numbers]
        if stretch.fence is not None:
            order.append(stretch.fence)

    def declare(op: Operation) -> None:
        for inner in op.walk() if op.regions else (op,):
            for value in inner._operands:  # pyright: ignore[reportPrivateUsage]
                owner = declared.pop(id(value.owner), None)
                if owner is not None:
                    declare(owner)
                    placed.append(owner)

    for op in order[:-1]:
        declare(op)
        placed.append(op)
    put_in_order(block, [*placed, *declared.values(), order[-1]])


_ALIKE = 256
"""The most instructions of a region whose order is cached; longer ones are hardly ever equal."""


def best_order(
    stretch: Region, costs: Sequence[InstructionCost], analyses: Analyses
) -> tuple[float, Sequence[int]]:
    """`fastest`, cached for short regions with equal dependences, costs and tiles."""
    target = analyses.kernel.target
    if len(costs) > _ALIKE:
        return fastest(stretch, costs, target)
    key = (
        tuple([cost.form for cost in costs]),
        tuple(map(tuple, stretch.after)),
        tuple(map(tuple, stretch.tiles)),
        tuple(stretch.sizes),
        tuple(stretch.used),
    )
    found = analyses.orders.get(key)
    if found is None:
        found = analyses.orders[key] = fastest(stretch, costs, target)
    return found


def fastest(
    stretch: Region, costs: Sequence[InstructionCost], target: Target
) -> tuple[float, list[int]]:
    """Return the fastest of the tried orders: its time in ns, and indices into the region.

    Args:
        stretch: a prepared region (`Regions.prepare`).
        costs: the cost of each instruction.
        target: the hardware.
    """
    places = [float(place) for place in range(len(costs))]
    best = author = _end_in_order(stretch, costs, target)
    order = own = list(range(len(costs)))
    busiest = _busiest(costs) * NEAR
    tried: tuple[Callable[[], list[float]], ...] = (
        lambda: places,
        lambda: [-rank for rank in _ranks(stretch, costs)],
    )
    for number, priorities in enumerate(tried):
        run = _Run(stretch, costs, target, priorities(), forced=number == 0)
        if run.run() and run.end != author and run.end < best * (AHEAD if order is own else 1):
            best, order = run.end, run.order
        if best <= busiest:
            break
    return best, order


def _ranks(stretch: Region, costs: Sequence[InstructionCost]) -> list[float]:
    """The longest time in ns from the start of each instruction to the end of a dependent one."""
    ranks = [0.0] * len(costs)
    after = stretch.after
    for number in range(len(ranks) - 1, -1, -1):
        behind = 0.0
        for other in after[number]:
            if ranks[other] > behind:
                behind = ranks[other]
        ranks[number] = costs[number].latency + behind
    return ranks


def _busiest(costs: Sequence[InstructionCost]) -> float:
    """The busy time of the busiest resource, in ns."""
    busy: dict[object, float] = {}
    for cost in costs:
        busy[cost.resource] = busy.get(cost.resource, 0.0) + cost.issue
    return max(busy.values())


_NOTHING = inf, inf
"""The result of `_lack` for an instruction that fits into memory."""


class _Stuck(NamedTuple):
    """Why no checked instruction of a lane fits into memory, so that it is not checked again early.

    One of these instructions may fit when any of the following changes.
    """

    ready: int
    """The number of ready instructions."""
    sbuf: float
    """`_Run._freed` of SBUF has reached this number of bytes."""
    psum: float
    """`_Run._freed` of PSUM has reached this number of bytes."""
    tiles: list[int]
    """Another instruction has allocated one of these tiles, which then costs nothing more."""
    first: float
    """All instructions before this place have started, so that `RESERVE` applies to another one."""


class _Resource:
    """A queue, or all DMA engines together."""

    def __init__(self, number: int):
        self.event = -1 - number
        """The key of the event "resource is free": negative, unlike indices of instructions."""
        self.free = 0.0
        """When the resource is free, in ns."""
        self.mask = 0
        """The bits of the lanes that use the resource."""


class _Lane:
    """A queue and its instructions that have not started."""

    def __init__(self, queue: Queue, resource: _Resource, number: int):
        self.resource = resource
        self.bit = 1 << number
        self.has_tables = queue is Queue.scalar
        self.in_order: list[int] = []
        """Its instructions in reverse program order (only `_end_in_order`)."""
        self.ready: list[tuple[float, int]] = []
        """A heap of its ready instructions: (priority, index)."""
        self.stuck: _Stuck | None = None
        """Why none of its ready instructions fits into memory; None if one may fit."""
        resource.mask |= self.bit


class _Engines:
    """The lanes and resources that run the instructions of a region."""

    def __init__(self, costs: Sequence[InstructionCost]):
        lanes: dict[Queue, _Lane] = {}
        resources: dict[object, _Resource] = {}
        self.lane_of: list[_Lane] = []
        """The lane of each instruction."""
        for cost in costs:
            lane = lanes.get(cost.queue)
            if lane is None:
                resource = resources.setdefault(cost.resource, _Resource(len(resources)))
                lane = lanes[cost.queue] = _Lane(cost.queue, resource, len(lanes))
            self.lane_of.append(lane)
        self.lanes = list(lanes.values())
        self._resources = list(resources.values())
        self._of_mask: dict[int, list[_Lane]] = {}

    def lanes_of(self, mask: int) -> Sequence[_Lane]:
        """The lanes of a mask of bits."""
        if not mask:
            return ()
        found = self._of_mask.get(mask)
        if found is None:
            found = self._of_mask[mask] = [lane for lane in self.lanes if lane.bit & mask]
        return found

    def freed(self, event: int, events: list[tuple[float, int]], now: float) -> int:
        """The bits of all lanes that become free at `now`; removes these events."""
        mask = self._resources[-1 - event].mask
        while events and events[0][1] < 0 and events[0][0] == now:
            mask |= self._resources[-1 - heappop(events)[1]].mask
        return mask


def _end_in_order(stretch: Region, costs: Sequence[InstructionCost], target: Target) -> float:
    """The time in ns at which a region ends if queues keep program order; ignores memory limits."""
    engines = _Engines(costs)
    lane_of, after, missing = engines.lane_of, stretch.after, list(stretch.waiting)
    for number in range(len(costs) - 1, -1, -1):
        lane_of[number].in_order.append(number)
    load_ns = target.timing.scalar.table_load_ns
    table: str | None = None
    events: list[tuple[float, int]] = []
    left, now, end = len(costs), 0.0, 0.0
    lanes: Sequence[_Lane] = engines.lanes
    while True:
        for lane in lanes:
            resource, numbers = lane.resource, lane.in_order
            while numbers and not missing[numbers[-1]] and resource.free <= now:
                number = numbers.pop()
                _, _, issue, latency, needed, _ = costs[number]
                begun = now
                if needed is not None and needed != table:
                    begun += load_ns
                    table = needed
                free, ended_at = begun + issue, begun + latency
                resource.free = free
                if ended_at > end:
                    end = ended_at
                heappush(events, (free, resource.event))
                if after[number]:
                    heappush(events, (ended_at, number))
                left -= 1
        if not left:
            return end
        now, ended = heappop(events)
        if ended < 0:
            lanes = engines.lanes_of(engines.freed(ended, events, now))
        else:
            mask = 0
            for other in after[ended]:
                missing[other] -= 1
                if not missing[other]:
                    mask |= lane_of[other].bit
            lanes = engines.lanes_of(mask)


class _Run:
    """A simulation of a region on engines that run ready instructions by priority."""

    def __init__(
        self,
        stretch: Region,
        costs: Sequence[InstructionCost],
        target: Target,
        priorities: Sequence[float],
        *,
        forced: bool,
    ):
        """
        Args:
                stretch: the region.
                costs: the cost of each instruction.
                target: the hardware.
                priorities: the priority of each instruction; the least runs first.
                forced: when nothing fits into memory and nothing runs, start the first ready
                    instruction anyway.
        """
        self.order: list[int] = []
        """The indices of the instructions in the order in which they start."""
        self.end = 0.0
        """When all instructions have ended, in ns."""
        self._stretch, self._costs, self._priorities = stretch, costs, priorities
        self._tiles, self._sizes = stretch.tiles, stretch.sizes
        self._forced = forced
        self._engines = _Engines(costs)
        self._table: str | None = None
        """The activation table that the Scalar Engine has loaded."""
        self._load_ns = target.timing.scalar.table_load_ns
        sbuf, psum = float(target.sbuf_usable_bytes), float(target.psum_partition_bytes)
        self._capacity = sbuf, psum
        # Whole bytes, like the sizes of tiles: the comparisons with missing bytes are exact.
        self._room = float(int(ROOM * sbuf)), psum
        self._most = float(int((ROOM + RESERVE) * sbuf)), psum
        self._used = list(stretch.used)
        self._left = list(stretch.users)
        self._begun = bytearray(len(stretch.users))
        self._freed = [0.0, 0.0]
        """Bytes of SBUF and of PSUM freed so far."""
        self._gone = bytearray(len(costs))
        """For each instruction, whether it has started."""
        self._first = 0
        """The index of the oldest instruction that has not started."""
        self._moved = False
        """Whether `_first` has changed since stuck lanes were last checked."""
        self._stuck = 0
        """The bits of the lanes in which no ready instruction fits into memory."""
        self._events: list[tuple[float, int]] = []

    def run(self) -> bool:
        """Simulate to the end; returns False if memory runs out."""
        engines, events, order = self._engines, self._events, self.order
        lane_of, priorities = engines.lane_of, self._priorities
        after, missing = self._stretch.after, list(self._stretch.waiting)
        for number, count in enumerate(missing):
            if not count:
                heappush(lane_of[number].ready, (priorities[number], number))
        lanes: Sequence[_Lane] = engines.lanes
        now = 0.0
        while True:
            for lane in lanes:
                ready, resource = lane.ready, lane.resource
                while ready and resource.free <= now:
                    number = self._choose(lane, ready)
                    if number < 0:
                        break
                    self._start(number, resource, now)
            if len(order) == len(missing):
                return True
            if not events and not self._force(now):
                return False
            now, ended = heappop(events)
            if ended < 0:
                mask = engines.freed(ended, events, now)
            else:
                mask = 0
                if self._end(ended):
                    mask, self._stuck = self._stuck, 0
                for other in after[ended]:
                    missing[other] -= 1
                    if not missing[other]:
                        lane = lane_of[other]
                        heappush(lane.ready, (priorities[other], other))
                        mask |= lane.bit
            if self._moved:
                self._moved = False
                mask |= self._stuck
                self._stuck = 0
            lanes = engines.lanes_of(mask)

    def _force(self, now: float) -> bool:
        """Start the first ready instruction beyond the limits that `_lack` checks.

        Returns False if the whole memory is too small for it.
        """
        if not self._forced:
            return False
        lane = min((lane for lane in self._engines.lanes if lane.ready), key=_first)
        self._start(heappop(lane.ready)[1], lane.resource, now)
        return all(u <= c for u, c in zip(self._used, self._capacity, strict=True))

    def _choose(self, lane: _Lane, ready: list[tuple[float, int]]) -> int:
        """Remove and return the best ready instruction that fits into memory; -1 if none fits.

        The time to load another activation table counts against an instruction's priority.
        """
        freed, stuck = self._freed, lane.stuck
        if (
            stuck is not None
            and stuck.ready == len(ready)
            and freed[0] < stuck.sbuf
            and freed[1] < stuck.psum
            and self._first < stuck.first
            and not any(map(self._begun.__getitem__, stuck.tiles))
        ):
            self._stuck |= lane.bit
            return -1
        lane.stuck = None
        has_tables = lane.has_tables and self._table is not None
        first = ready[0][1]
        if not (has_tables and self._table_ns(first)) and self._lack(first) is _NOTHING:
            return heappop(ready)[1]
        seen: list[tuple[float, int]] = []
        found: tuple[float, int] | None = None
        best = least_sbuf = least_psum = inf
        while ready and len(seen) < _LOOKED_AT:
            entry = heappop(ready)
            seen.append(entry)
            late = entry[0] + self._table_ns(entry[1]) if has_tables else entry[0]
            if late >= best:
                continue
            lack = self._lack(entry[1])
            if lack is _NOTHING:
                best, found = late, entry
                if not has_tables:
                    break
            else:
                sbuf, psum = lack
                if sbuf < least_sbuf:
                    least_sbuf = sbuf
                if psum < least_psum:
                    least_psum = psum
        for entry in seen:
            if entry is not found:
                heappush(ready, entry)
        if found is None:
            tiles, begun = self._tiles, self._begun
            numbers = [number for _, number in seen]
            lacking = [tile for number in numbers for tile in tiles[number] if not begun[tile]]
            sbuf, psum, next_ = freed[0] + least_sbuf, freed[1] + least_psum, self._first + _NEXT
            first = min((n for n in numbers if n >= next_), default=inf) - _NEXT + 1
            lane.stuck = made(_Stuck, (len(ready), sbuf, psum, lacking, first))
            self._stuck |= lane.bit
            return -1
        return found[1]

    def _table_ns(self, number: int) -> float:
        """The time to load the table that an instruction needs, in ns; 0 if it is loaded."""
        table = self._costs[number].table
        return 0.0 if table is None or table == self._table else self._load_ns

    def _lack(self, number: int) -> tuple[float, float]:
        """The bytes of SBUF and of PSUM that must be freed before an instruction can start.

        inf for a memory with enough free space.
        """
        begun = self._begun
        sbuf = psum = 0.0
        for tile in self._tiles[number]:
            if not begun[tile]:
                memory, size = self._sizes[tile]
                if memory:
                    psum += size
                else:
                    sbuf += size
        if not sbuf and not psum:
            return _NOTHING  # the common case: its tiles are in use
        used = self._used
        room = self._most if number < self._first + _NEXT else self._room
        sbuf_lack = used[0] + sbuf - room[0] if sbuf else 0.0
        psum_lack = used[1] + psum - room[1] if psum else 0.0
        if sbuf_lack <= 0 and psum_lack <= 0:
            return _NOTHING
        return sbuf_lack if sbuf_lack > 0 else inf, psum_lack if psum_lack > 0 else inf

    def _start(self, number: int, resource: _Resource, now: float) -> None:
        begun = self._begun
        for tile in self._tiles[number]:
            if not begun[tile]:
                begun[tile] = 1
                memory, size = self._sizes[tile]
                self._used[memory] += size
        _, _, issue, latency, table, _ = self._costs[number]
        if table is not None:
            now += self._table_ns(number)
            self._table = table
        free, ended = now + issue, now + latency
        resource.free = free
        self.order.append(number)
        self._gone[number] = 1
        if number == self._first:
            self._first = self._gone.find(0, number)
            self._moved = True
        if ended > self.end:
            self.end = ended
        heappush(self._events, (free, resource.event))
        heappush(self._events, (ended, number))

    def _end(self, number: int) -> bool:
        """End an instruction; returns whether that frees tiles."""
        left, some = self._left, False
        for tile in self._tiles[number]:
            left[tile] -= 1
            if not left[tile]:
                memory, size = self._sizes[tile]
                self._used[memory] -= size
                self._freed[memory] += size
                some = True
        return some


def _first(lane: _Lane) -> tuple[float, int]:
    """The best ready entry of a lane."""
    return lane.ready[0]
