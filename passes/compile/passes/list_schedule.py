"""`list-schedule`: instructions in the order in which engines can begin them.

Engines run their instructions in order, so one that waits holds up all behind it. Each stretch of
instructions that may change places is run as engines would that need not wait, with durations from
the cost model: one that is free begins something that is ready, and the order in which instructions
begin is the order that they get. What that should be, where several are ready, is tried: the first
of the program, and the one from which the longest chain of others hangs. The faster order is taken,
or the author's if none is faster.

An instruction that needs a new tile begins only while all tiles in use fit into a part of the
memory; the rest is left for what does not lie side by side. What is far ahead of the first that has
not begun gets less of it, or it would keep that one from the room that it needs. An order that
finds no room is given up. Loops, prints, registers, what cores meet in, and what is in
`nl.no_reorder` keep their places, and nothing passes them.
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
from nkijit.passes.compile.analyses.regions import Region, declares
from nkijit.passes.lower.program import Queue

ROOM = 0.75
"""The part of SBUF that tiles may take at a time; between tiles there are gaps."""
RESERVE = 0.15
"""The part of SBUF beside that for what comes next in the program."""
NEAR = 1.005
"""An order that takes so much of the busiest resource's time is not worth a better one."""
AHEAD = 1.02
"""The author's order has all the memory here, which it will not have: one that has to do with what
there is may take so much of its time."""
_NEXT = 64
"""So many instructions, from the first that has not begun on, come next."""
_LOOKED_AT = 8
"""Instructions for which there is no room that are passed over for one behind them."""


def list_schedule(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Order the instructions of a kernel; returns how many have changed places.

    `analyses`: what is known of the kernel.
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
    """Put the operations of a block into an order, each behind what declares its operands."""
    ops = list(directly_in(block))
    # Tensors in HBM are those of other cores by their order.
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
            for value in operand_tuple(inner):
                owner = declared.pop(id(value.owner), None)
                if owner is not None:
                    declare(owner)
                    placed.append(owner)

    for op in order[:-1]:
        declare(op)
        placed.append(op)
    put_in_order(block, [*placed, *declared.values(), order[-1]])


_ALIKE = 256
"""Stretches of so many instructions at most are compared; others are hardly alike."""


def best_order(
    stretch: Region, costs: Sequence[InstructionCost], analyses: Analyses
) -> tuple[float, Sequence[int]]:
    """`fastest`, found once for short stretches that are alike."""
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
    """The fastest of some orders of a stretch: its time in ns, and the order as places in it.

    Args:
        stretch: it has been prepared.
        costs: of its instructions.
        target: what they run on.
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
    """The time from the beginning of each instruction to the end of all that need it."""
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
    """How long the queue, or the DMA engines, have to do that has most to do."""
    busy: dict[object, float] = {}
    for cost in costs:
        busy[cost.resource] = busy.get(cost.resource, 0.0) + cost.issue
    return max(busy.values())


_NOTHING = inf, inf
"""What an instruction lacks that finds room."""


class _Stuck(NamedTuple):
    """What a lane lacks of which no instruction that was looked at finds room."""

    ready: int
    """How many were ready."""
    sbuf: float
    """One may find room when so many bytes have come out of use,"""
    psum: float
    """or so many of PSUM,"""
    tiles: list[int]
    """or when others have begun one of these, which then asks for no more,"""
    first: float
    """or when all before this place have begun, and what is far ahead comes next."""


class _Resource:
    """A queue, or the DMA engines."""

    def __init__(self, number: int):
        self.event = -1 - number
        """What its becoming free is called among events: less than any instruction's number."""
        self.free = 0.0
        """When it can begin something."""
        self.mask = 0
        """The bits of its lanes."""


class _Lane:
    """A queue with its instructions."""

    def __init__(self, queue: Queue, resource: _Resource, number: int):
        self.resource = resource
        self.bit = 1 << number
        self.has_tables = queue is Queue.scalar
        self.in_order: list[int] = []
        """Its instructions from the last to the first."""
        self.ready: list[tuple[float, int]] = []
        """Those that wait for nothing, by their priorities: a heap."""
        self.stuck: _Stuck | None = None
        """Why none of its instructions begins, if none does."""
        resource.mask |= self.bit


class _Engines:
    """What runs the instructions of a stretch: lanes in the order in which they are asked."""

    def __init__(self, costs: Sequence[InstructionCost]):
        lanes: dict[Queue, _Lane] = {}
        resources: dict[object, _Resource] = {}
        self.lane_of: list[_Lane] = []
        """That of each instruction."""
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
        """The lanes of which the bits are set."""
        if not mask:
            return ()
        found = self._of_mask.get(mask)
        if found is None:
            found = self._of_mask[mask] = [lane for lane in self.lanes if lane.bit & mask]
        return found

    def freed(self, event: int, events: list[tuple[float, int]], now: float) -> int:
        """The bits of all lanes whose resources become free now; takes their events."""
        mask = self._resources[-1 - event].mask
        while events and events[0][1] < 0 and events[0][0] == now:
            mask |= self._resources[-1 - heappop(events)[1]].mask
        return mask


def _end_in_order(stretch: Region, costs: Sequence[InstructionCost], target: Target) -> float:
    """When all has ended if queues keep the order of the program, in ns."""
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
    """A run of a stretch by engines that begin what is ready."""

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
            stretch: what runs.
            costs: of its instructions.
            target: what they run on.
            priorities: of each instruction; the least goes first.
            forced: what goes first begins without room, if nothing else can go on.
        """
        self.order: list[int] = []
        """The places of the instructions, in the order in which they begin."""
        self.end = 0.0
        """When all have ended."""
        self._stretch, self._costs, self._priorities = stretch, costs, priorities
        self._tiles, self._sizes = stretch.tiles, stretch.sizes
        self._forced = forced
        self._engines = _Engines(costs)
        self._table: str | None = None
        """The table that the Scalar Engine holds."""
        self._load_ns = target.timing.scalar.table_load_ns
        sbuf, psum = float(target.sbuf_usable_bytes), float(target.psum_partition_bytes)
        self._capacity = sbuf, psum
        # Whole bytes, as tiles have: how many are missing is then known exactly.
        self._room = float(int(ROOM * sbuf)), psum
        self._most = float(int((ROOM + RESERVE) * sbuf)), psum
        self._used = list(stretch.used)
        self._left = list(stretch.users)
        self._begun = bytearray(len(stretch.users))
        self._freed = [0.0, 0.0]
        """The bytes that have come out of use, of SBUF and of PSUM."""
        self._gone = bytearray(len(costs))
        """Which instructions have begun."""
        self._first = 0
        """The place of the first that has not."""
        self._moved = False
        """Whether that is another one than when lanes without room were last asked."""
        self._stuck = 0
        """The bits of lanes whose ready instructions find no room."""
        self._events: list[tuple[float, int]] = []

    def run(self) -> bool:
        """Run to the end; False when there is no room to go on."""
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
        """Begin what stands first in the program, if memory holds it.

        Later ones have taken the room; there is more of it than tiles are to take.
        """
        if not self._forced:
            return False
        lane = min((lane for lane in self._engines.lanes if lane.ready), key=_first)
        self._start(heappop(lane.ready)[1], lane.resource, now)
        return all(u <= c for u, c in zip(self._used, self._capacity, strict=True))

    def _choose(self, lane: _Lane, ready: list[tuple[float, int]]) -> int:
        """Take the best instruction of a lane for which there is room; -1 if there is none.

        One that needs another table has to be better by more than loading it takes.
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
        """What loading the table takes that an instruction needs."""
        table = self._costs[number].table
        return 0.0 if table is None or table == self._table else self._load_ns

    def _lack(self, number: int) -> tuple[float, float]:
        """The bytes of SBUF and of PSUM that have to come out of use before an instruction begins.

        inf for a memory that has room.
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
            return _NOTHING  # as most, whose tiles are in use
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
        """An instruction has ended; whether tiles come out of use."""
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
    """The best of what is ready in a lane."""
    return lane.ready[0]
