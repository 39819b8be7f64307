"""`list-schedule`: orders the instructions of each region with a list scheduler.

Engines execute their queues in order, so an instruction that waits delays all later ones of its
queue. The scheduler simulates each region on engines that run any ready instruction, with durations
from the cost model. The order in which instructions start becomes their order in the program. Two
priorities among ready instructions are tried: program order, and the longest chain of dependent
instructions. The faster order is used; the author's order stays if neither is faster.

Instructions that start before older ones occupy memory that the older ones may need. So an
instruction starts only if all instructions that have not started still fit into memory when they
run in program order (`occupancy`). The oldest of them then always fits once the running
instructions have ended, and the scheduler never runs out of memory. In addition, instructions far
ahead of the oldest one get only a part of the memory: otherwise they would occupy it until the
oldest ones run one by one. Nothing moves across the boundaries of regions (see `regions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from xdsl.ir import Block, Operation

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.creation import put_in_order
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.dialects.tuples import made
from nkijit.dialects.walks import directly_in
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.occupancy import Occupancy, spans_of
from nkijit.passes.compile.analyses.regions import Region, declares
from nkijit.passes.lower.program import Queue

MAX_USE = 0.75
"""The fraction of SBUF and PSUM that tiles of instructions far ahead may use."""
RESERVE = 0.15
"""The additional fraction of SBUF that the oldest `_NEXT` unstarted instructions may use.

The rest allows for gaps between tiles. In PSUM, these instructions may use all banks.
"""
NEAR = 1.005
"""The search stops at an order within this factor of the busiest resource's time."""
AHEAD = 1.02
"""An order with a time up to this multiple of the author's may replace the author's order.

The factor applies until a better order is found. The time of the author's order is simulated
without memory limits, the others with them.
"""
_NEXT = 64
"""The number of instructions, from the oldest unstarted on, that may use more memory."""
_MAX_CHECKED = 8
"""The number of ready instructions per queue that are checked for one that fits into memory."""


def list_schedule(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Reorder the instructions of a kernel; returns the number of moved instructions."""
    analyses = analyses or Analyses(kernel)
    regions = analyses.regions
    moved = 0
    for block, each in regions.in_blocks:
        changed = 0
        for region in each:
            if len(region.ops) < 3:
                region.order = None
                continue
            if region.order is None:
                regions.prepare(region)
                _, region.order = best_order(region, region.costs, analyses)
            changed += sum(number != place for place, number in enumerate(region.order))
        if changed:
            _arrange(block, each)
        moved += changed
    if moved:
        analyses.changed()
    return moved


def _arrange(block: Block, regions: Sequence[Region]) -> None:
    """Reorder the operations of a block, with each declaration before its first use."""
    ops = list(directly_in(block))
    # HBM tensors keep their order, by which they correspond to tensors of other cores.
    placed: list[Operation] = [
        op for op in ops if type(op) is AllocOp and not info_of(op.result).region.on_chip
    ]
    first = set(map(id, placed))
    declared = {id(op): op for op in ops if declares(type(op)) and id(op) not in first}
    order: list[Operation] = []
    for region in regions:
        numbers = range(len(region.ops)) if region.order is None else region.order
        order += [region.ops[number] for number in numbers]
        if region.fence is not None:
            order.append(region.fence)

    def declare(op: Operation) -> None:
        for inner in op.walk() if op.regions else (op,):
            for value in operand_tuple(inner):
                owner = declared.pop(id(value.owner), None)
                if owner is not None:
                    declare(owner)
                    placed.append(owner)

    for op in order[:-1]:
        declare(op)
        placed.append(op)
    put_in_order(block, [*placed, *declared.values(), order[-1]])


_MAX_CACHED = 256
"""The largest number of instructions of a region whose order is cached.

Longer regions are hardly ever equal to another region.
"""


def best_order(
    region: Region, costs: Sequence[InstructionCost], analyses: Analyses
) -> tuple[float, Sequence[int]]:
    """Return `fastest`, cached for short regions with equal dependences, costs and tiles."""
    target = analyses.kernel.target
    if len(costs) > _MAX_CACHED:
        return fastest(region, costs, target)
    key = (
        tuple([cost.form for cost in costs]),
        tuple(map(tuple, region.after)),
        tuple(map(tuple, region.tiles)),
        tuple(region.sizes),
        tuple(region.used),
    )
    found = analyses.orders.get(key)
    if found is None:
        found = analyses.orders[key] = fastest(region, costs, target)
    return found


def fastest(
    region: Region, costs: Sequence[InstructionCost], target: Target
) -> tuple[float, list[int]]:
    """Return the fastest of the tried orders: its time in ns, and indices into the region.

    The region must be prepared (`Regions.prepare`).
    """
    best = author = _end_in_order(region, costs, target)
    order = own = list(range(len(costs)))
    busiest = _busiest(costs) * NEAR
    pace = author / len(costs)
    tried: tuple[Callable[[], list[float]], ...] = (
        lambda: [place * pace for place in own],
        lambda: [-rank for rank in _ranks(region, costs)],
    )
    for priorities in tried:
        run = _Run(region, costs, target, priorities())
        run.run()
        if run.end != author and run.end < best * (AHEAD if order is own else 1):
            best, order = run.end, run.order
        if best <= busiest:
            break
    return best, order


def _ranks(region: Region, costs: Sequence[InstructionCost]) -> list[float]:
    """Return each instruction's longest time in ns until the end of a dependent instruction."""
    ranks = [0.0] * len(costs)
    after = region.after
    for number in range(len(ranks) - 1, -1, -1):
        longest = 0.0
        for other in after[number]:
            if ranks[other] > longest:
                longest = ranks[other]
        ranks[number] = costs[number].latency + longest
    return ranks


def _busiest(costs: Sequence[InstructionCost]) -> float:
    """Return the busy time of the busiest resource, in ns."""
    busy: dict[object, float] = {}
    for cost in costs:
        busy[cost.resource] = busy.get(cost.resource, 0.0) + cost.issue
    return max(busy.values())


class _Lack(NamedTuple):
    """The reasons why an instruction does not fit into memory."""

    sbuf: float
    """The bytes of SBUF that must be freed before it can fit; inf if SBUF is not the reason."""
    psum: float
    """The bytes of PSUM that must be freed before it can fit; inf if PSUM is not the reason."""
    first: float
    """The value of `_Run._first` from which it can fit without freed memory."""


_FITS = _Lack(inf, inf, inf)
"""The result of `_lack` for an instruction that fits into memory."""


class _Stuck(NamedTuple):
    """A state in which no checked instruction of a queue (`_Lane`) fits into memory.

    Each field describes a change of the schedule. The instructions of the queue are checked again
    after the first of these changes.
    """

    ready: int
    """The number of ready instructions at the last check; another number causes a new check."""
    sbuf: float
    """The value of `_Run._freed` for SBUF, in bytes, from which the check is repeated."""
    psum: float
    """The value of `_Run._freed` for PSUM, in bytes, from which the check is repeated."""
    tiles: list[int]
    """Tiles whose allocation causes a new check: instructions then need less memory."""
    oldest: int
    """The value of `_Run._first` at the last check; another one in this queue is checked."""
    first: float
    """The value of `_Run._first` from which the check is repeated."""


class _Resource:
    """A resource that runs one instruction at a time: a queue, or all DMA engines together."""

    def __init__(self, number: int):
        self.event = -1 - number
        """The key of the event that frees the resource; negative, unlike instruction indices."""
        self.free = 0.0
        """The time in ns at which the resource is free."""
        self.mask = 0
        """The lanes that share the resource, as bits."""


class _Lane:
    """A queue with its instructions that have not started yet."""

    def __init__(self, queue: Queue, resource: _Resource, number: int):
        self.resource = resource
        self.bit = 1 << number
        self.has_tables = queue is Queue.scalar
        self.in_order: list[int] = []
        """The lane's instructions in reverse program order; used only by `_end_in_order`."""
        self.ready: list[tuple[float, int]] = []
        """A heap of the lane's ready instructions: (priority, index)."""
        self.stuck: _Stuck | None = None
        """The state in which no ready instruction fits into memory; None if one may fit."""
        resource.mask |= self.bit


class _Engines:
    """The queues (lanes) and resources that run the instructions of a region."""

    def __init__(self, costs: Sequence[InstructionCost]):
        lanes: dict[Queue, _Lane] = {}
        resources: dict[object, _Resource] = {}
        self.lane_of: list[_Lane] = []
        """The lane of each instruction, by index."""
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
        """Return the lanes of a mask of bits."""
        if not mask:
            return ()
        found = self._of_mask.get(mask)
        if found is None:
            found = self._of_mask[mask] = [lane for lane in self.lanes if lane.bit & mask]
        return found

    def freed(self, event: int, events: list[tuple[float, int]], now: float) -> int:
        """Return the bits of all lanes that become free at `now`, and remove their events."""
        mask = self._resources[-1 - event].mask
        while events and events[0][1] < 0 and events[0][0] == now:
            mask |= self._resources[-1 - heappop(events)[1]].mask
        return mask


def _end_in_order(region: Region, costs: Sequence[InstructionCost], target: Target) -> float:
    """Return the time in ns at which a region ends if each queue keeps the program order.

    Ignores memory limits.
    """
    engines = _Engines(costs)
    lane_of, after, missing = engines.lane_of, region.after, list(region.waiting)
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
    """A simulation of a region in which queues start ready instructions by priority."""

    def __init__(
        self,
        region: Region,
        costs: Sequence[InstructionCost],
        target: Target,
        priorities: Sequence[float],
    ):
        """Prepare a simulation.

        `priorities`: the priority of each instruction in ns; the least runs first.
        """
        self.order: list[int] = []
        """The indices of the instructions in the order of their starts."""
        self.end = 0.0
        """The time in ns at which all instructions have ended."""
        self._region, self._costs, self._priorities = region, costs, priorities
        self._tiles, self._sizes = region.tiles, region.sizes
        self._engines = _Engines(costs)
        self._table: str | None = None
        """The activation table that the Scalar Engine has loaded."""
        self._load_ns = target.timing.scalar.table_load_ns
        sbuf, psum = float(target.sbuf_usable_bytes), float(target.psum_partition_bytes)
        # Whole bytes, like the sizes of tiles: the comparisons with missing bytes are exact.
        self._limit = float(int(MAX_USE * sbuf)), float(int(MAX_USE * psum))
        self._near_limit = float(int((MAX_USE + RESERVE) * sbuf)), psum
        spans = spans_of(region)
        self._occupancy = tuple(
            Occupancy(region, spans, memory, limit) for memory, limit in enumerate(self._near_limit)
        )
        self._used = list(region.used)
        self._left = list(region.users)
        self._allocated = bytearray(len(region.users))
        self._freed = [0.0, 0.0]
        """Bytes of SBUF and of PSUM freed so far."""
        self._missing = list(region.waiting)
        """For each instruction, the number of instructions that it waits for."""
        self._started = bytearray(len(costs))
        """For each instruction, whether it has started."""
        self._first = 0
        """The index of the oldest instruction that has not started."""
        self._moved = False
        """True if `_first` has changed since stuck lanes were last checked."""
        self._stuck_lanes = 0
        """The lanes in which no ready instruction fits into memory, as bits."""
        self._events: list[tuple[float, int]] = []

    def run(self) -> None:
        """Simulate the region to its end."""
        engines, events, order = self._engines, self._events, self.order
        lane_of, priorities = engines.lane_of, self._priorities
        after, missing = self._region.after, self._missing
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
                return
            now, ended = heappop(events)
            if ended < 0:
                mask = engines.freed(ended, events, now)
            else:
                mask = 0
                if self._end(ended):
                    mask, self._stuck_lanes = self._stuck_lanes, 0
                for other in after[ended]:
                    missing[other] -= 1
                    if not missing[other]:
                        lane = lane_of[other]
                        heappush(lane.ready, (priorities[other], other))
                        mask |= lane.bit
            if self._moved:
                self._moved = False
                mask |= self._stuck_lanes
                self._stuck_lanes = 0
            lanes = engines.lanes_of(mask)

    def _choose(self, lane: _Lane, ready: list[tuple[float, int]]) -> int:
        """Remove and return the best ready instruction that fits into memory; -1 if none fits.

        The time to load another activation table counts against an instruction's priority. If no
        checked instruction fits, the oldest instruction of the region is tried.
        """
        started = self._started
        while started[ready[0][1]]:
            heappop(ready)
            if not ready:
                return -1
        freed, stuck, oldest = self._freed, lane.stuck, self._first
        is_here = self._engines.lane_of[oldest] is lane and not self._missing[oldest]
        if (
            stuck is not None
            and stuck.ready == len(ready)
            and freed[0] < stuck.sbuf
            and freed[1] < stuck.psum
            and oldest < stuck.first
            and (oldest == stuck.oldest or not is_here)
            and not any(map(self._allocated.__getitem__, stuck.tiles))
        ):
            self._stuck_lanes |= lane.bit
            return -1
        lane.stuck = None
        has_tables = lane.has_tables and self._table is not None
        first = ready[0][1]
        if not (has_tables and self._table_ns(first)) and self._lack(first) is _FITS:
            return heappop(ready)[1]
        seen: list[tuple[float, int]] = []
        found: tuple[float, int] | None = None
        lacks: list[_Lack] = []
        best = inf
        while ready and len(seen) < _MAX_CHECKED:
            entry = heappop(ready)
            seen.append(entry)
            late = entry[0] + self._table_ns(entry[1]) if has_tables else entry[0]
            if late >= best or started[entry[1]]:
                continue
            lack = self._lack(entry[1])
            if lack is _FITS:
                best, found = late, entry
                if not has_tables:
                    break
            else:
                lacks.append(lack)
        for entry in seen:
            if entry is not found:
                heappush(ready, entry)
        if found is not None:
            return found[1]
        numbers = [number for _, number in seen]
        if is_here:
            # Its entry stays in the heap until it is first.
            lack = self._lack(oldest)
            if lack is _FITS:
                return oldest
            lacks.append(lack)
            numbers.append(oldest)
        tiles, allocated = self._tiles, self._allocated
        lacking = [tile for number in numbers for tile in tiles[number] if not allocated[tile]]
        sbuf = freed[0] + min(lack.sbuf for lack in lacks)
        psum = freed[1] + min(lack.psum for lack in lacks)
        until = min(lack.first for lack in lacks)
        lane.stuck = made(_Stuck, (len(ready), sbuf, psum, lacking, oldest, until))
        self._stuck_lanes |= lane.bit
        return -1

    def _table_ns(self, number: int) -> float:
        """Return the time in ns to load the table that an instruction needs; 0 if it is loaded."""
        table = self._costs[number].table
        return 0.0 if table is None or table == self._table else self._load_ns

    def _lack(self, number: int) -> _Lack:
        """Return the reasons why an instruction does not fit into memory, or `_FITS`."""
        allocated = self._allocated
        sizes = [0.0, 0.0]
        for tile in self._tiles[number]:
            if not allocated[tile]:
                memory, size = self._sizes[tile]
                sizes[memory] += size
        if not sizes[0] and not sizes[1]:
            return _FITS  # the common case: its tiles are in use
        lacks = [inf, inf]
        oldest, until = self._first, inf
        limits = self._near_limit if number < oldest + _NEXT else self._limit
        for memory, size in enumerate(sizes):
            if not size:
                continue
            occupancy = self._occupancy[memory]
            limit = occupancy.limit if number == oldest else limits[memory]
            lack = self._used[memory] + size - limit
            if lack > 0:
                lacks[memory] = lack
                until = min(until, number - _NEXT + 1 if limits is self._limit else number)
            elif number > oldest:
                lack, place = occupancy.lack(oldest, number, size)
                if lack > 0:
                    lacks[memory] = lack
                    until = min(until, place + 1)
        if lacks[0] == inf and lacks[1] == inf:
            return _FITS
        return made(_Lack, (lacks[0], lacks[1], until if until > oldest else inf))

    def _start(self, number: int, resource: _Resource, now: float) -> None:
        allocated = self._allocated
        for tile in self._tiles[number]:
            if not allocated[tile]:
                allocated[tile] = 1
                memory, size = self._sizes[tile]
                self._used[memory] += size
                self._occupancy[memory].allocate(tile, self._first)
        _, _, issue, latency, table, _ = self._costs[number]
        if table is not None:
            now += self._table_ns(number)
            self._table = table
        free, ended = now + issue, now + latency
        resource.free = free
        self.order.append(number)
        self._started[number] = 1
        if number == self._first:
            self._first = self._started.find(0, number)
            self._moved = True
        if ended > self.end:
            self.end = ended
        heappush(self._events, (free, resource.event))
        heappush(self._events, (ended, number))

    def _end(self, number: int) -> bool:
        """Record the end of an instruction; returns whether tiles become free."""
        left, some = self._left, False
        for tile in self._tiles[number]:
            left[tile] -= 1
            if not left[tile]:
                memory, size = self._sizes[tile]
                self._used[memory] -= size
                self._freed[memory] += size
                self._occupancy[memory].free(tile, self._first)
                some = True
        return some
