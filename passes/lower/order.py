"""The order in which each queue runs the items (instructions and loops) of a block.

Engines keep program order. Only the DMA triggers in the queue of the Sync Engine are reordered: a
store that waits for its data would delay the loads after it. The new order comes from a simulation
with the cost model in which the Sync Engine starts DMAs that are ready. Three priorities are tried:
program order, the longest chain of dependent items, and the latest start that does not delay the
faster of these two simulations. The order that ends first is used. A ring takes DMAs in the order
of their triggers, so a waiting DMA delays only DMAs that depend on it. A DMA that is triggered
early delays no other DMA either: while the DMA engines are busy enough, the Sync Engine waits for
the next DMA in program order.

An instruction that depends on several accesses of a ring to one tensor has an edge only to the last
of these accesses (`Accesses`). So DMAs of one ring that access the same tensor keep program order.
The exceptions are tensors that no instruction writes or no instruction reads. In a tensor that no
instruction reads, each write has an edge to the next write.

Each region of a block between loops is ordered separately, and nothing moves across a loop. So the
predecessors of an item within an iteration precede it in the new order as well, and so do all
predecessors of a loop, in every queue. If items run one by one in this order, no item ever waits.
Hence queues cannot deadlock. Predecessors in the previous iteration have ended with that iteration.
A ring starts an iteration, or the code after a loop, only when all of its earlier transfers have
started. So only accesses of one region are reordered.

The simulation of a region after a loop starts when that loop ends in each queue, estimated from two
iterations of its body. An instruction that needs results of the loop is not ready earlier.

Instructions that read registers, and instructions in `nl.no_reorder`, keep their positions. So do
instructions at which cores wait for each other: the simulation of one core does not know when the
other core arrives. The other core may urgently need results of later instructions.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, cast

from xdsl.dialects.scf import ForOp
from xdsl.ir import SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects, role_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import NoReorderOp, ReturnOp
from nkijit.dialects.nki.views import base_of, index_of, views_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.ranges import Ranges
from nkijit.passes.lower.dma_engines import DmaEngines
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.on_chip import READS_ITSELF, OnChip
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Loop,
    Program,
    Queue,
    QueueLoop,
    What,
)
from nkijit.passes.lower.traffic import Traffic

_OF_DMA = (What.trigger, What.transfer)
_MAX_PENDING = 4
"""The number of latest results per engine and allocation that an instruction may wait for.

Older results are assumed to be complete.
"""
NEAR = 1.005
"""The search stops at an order that takes at most this factor times the busiest queue's time."""


class Ordering:
    """Orders the items of each block so that every item follows the items that it waits for.

    Reorders the Sync Engine's queue and the rings that it starts, by the durations of instructions.
    """

    def __init__(self, program: Program, durations: Durations):
        self._program = program
        self._durations = durations
        self._ordered: dict[Loop | None, list[Item]] = {}
        self._spans: dict[Loop, _Span] = {}
        self._ranges: Ranges | None = None

    def of(self, loop: Loop | None) -> list[Item]:
        """Return the items of a block in their new order; also reorders the block's queues."""
        found = self._ordered.get(loop)
        if found is None:
            found = self._ordered[loop] = self._order(self._program.blocks[loop])
        return found

    def _order(self, items: Sequence[Item]) -> list[Item]:
        parts = [(kind, list(part)) for kind, part in groupby(items, type)]
        all_movable = [
            set[Item]() if kind is QueueLoop else {item for item in part if _is_movable(item)}
            for kind, part in parts
        ]
        last = max((n for n, movable in enumerate(all_movable) if len(movable) > 1), default=-1)
        ordered: list[Item] = []
        changed: set[Queue] = set()
        clock = _Clock(self._program.target)
        for number, (kind, part) in enumerate(parts):
            movable = all_movable[number]
            if number > last:
                ordered += part  # nothing to reorder here or later
            elif kind is QueueLoop:
                self._run_loops(part, clock)
                ordered += part
            elif len(movable) < 2:
                self._run(part, clock)
                ordered += part
            else:
                run = _Region(part, movable, self._durations, clock).fastest()
                if number < last:
                    run.leave()
                ordered += run.order
                changed |= {item.queue for item in part if item in movable or item.queue.is_ring}
        if changed:
            loop = items[0].loop
            program = self._program
            queues = program.queues
            if loop is not None:
                queues = {queue: inside.items for queue, inside in loop.queues.items()}
            for queue in changed:
                queues[queue][:] = [item for item in ordered if item.queue is queue]
        return ordered

    def _run_loops(self, loops: Sequence[Item], clock: _Clock) -> None:
        """Simulate adjacent loops of a block, beginning at `clock`, and update `clock`."""
        for body, each in groupby(cast("Sequence[QueueLoop]", loops), attrgetter("body")):
            inside = list(each)
            # Iterations in different queues wait for each other, so they start together.
            begin = max([clock.free[item.queue] for item in inside])
            for item in inside:
                for earlier, carried, _, _ in item.edges:
                    begin = max(begin, clock.end_of(earlier, carried=carried))
            span = self._span(body)
            for item in inside:
                clock.free[item.queue] = begin + span.free[item.queue]
                clock.ends[item] = begin + span.ends[item.queue]
            if span.dma_busy_until:
                clock.dma.keep_busy(begin + span.dma_busy_until)

    def _span(self, loop: Loop) -> _Span:
        """Return the duration of a loop, extrapolated from two iterations."""
        found = self._spans.get(loop)
        if found is None:
            found = self._spans[loop] = self._find_span(loop)
        return found

    def _find_span(self, loop: Loop) -> _Span:
        count = self._count(loop)
        if not count:
            return _Span(dict.fromkeys(Queue, 0.0), dict.fromkeys(Queue, 0.0), 0.0)
        clock = _Clock(self._program.target)
        items = self.of(loop)
        self._iterate(items, clock)
        more = 0.0
        if count > 1:
            first = max(clock.ends.values(), default=0.0)
            clock.before, clock.ends = clock.ends, {}
            self._iterate(items, clock)
            period = max(clock.ends.values(), default=0.0) - first
            more = (count - 2) * max(0.0, period)
        ends = dict.fromkeys(Queue, 0.0)
        for item, end in clock.ends.items():
            ends[item.queue] = max(ends[item.queue], end + more)
        free = {queue: time + more for queue, time in clock.free.items()}
        busy_until = clock.dma.busy_until
        return _Span(free, ends, busy_until + more if busy_until else 0.0)

    def _iterate(self, items: Sequence[Item], clock: _Clock) -> None:
        """Simulate the items of a block in their new order."""
        for kind, part in groupby(items, type):
            if kind is QueueLoop:
                self._run_loops(list(part), clock)
            else:
                self._run(list(part), clock)

    def _run(self, items: Sequence[Item], clock: _Clock) -> None:
        """Simulate items without reordering them."""
        region = _Region(items, set(), self._durations, clock)
        _Run(region, range(len(items))).leave()

    def _count(self, loop: Loop) -> int:
        """Return the trip count of a loop; if unknown, the smallest possible one above 0."""
        if not isinstance(loop.op, ForOp):
            return 1
        if self._ranges is None:
            self._ranges = Ranges(self._program.kernel)
        least, most = self._ranges.trip_counts(loop.op)
        return least if least == most else max(1, least)


class _Span(NamedTuple):
    """The times in ns, from a loop's start, at which queues and DMA engines finish the loop."""

    free: dict[Queue, float]
    """The time at which each queue can start an item after the loop."""
    ends: dict[Queue, float]
    """For each queue, the time at which its last item ends."""
    dma_busy_until: float
    """The time at which the DMA engines complete the loop's transfers; 0 if there are none."""


class _Clock:
    """The state of a simulation at the start of a region, with times in ns."""

    def __init__(self, target: Target) -> None:
        self.free = dict.fromkeys(Queue, 0.0)
        """The time at which each queue can start an item of the region."""
        self.dma: DmaEngines[int] = DmaEngines(target)
        self.ends: dict[Item, float] = {}
        """For each earlier item of the block, the time at which the item ends."""
        self.before: dict[Item, float] = {}
        """For each item of the block, the time at which it ended in the previous iteration."""

    def end_of(self, item: Item, *, carried: bool) -> float:
        """Return the time at which an item that is not in the region ends.

        `carried`: the item is in the previous iteration.
        """
        return (self.before if carried else self.ends).get(item, 0.0)


def _is_movable(item: Item) -> bool:
    """Whether an item is a DMA trigger of the Sync Engine that may be reordered.

    Such a trigger depends only on the tiles that the DMA moves.
    """
    if item.queue is not Queue.sync or type(item) is not EngineInstruction:
        return False
    if item.what is not What.trigger or type(item.op) in WAITING:
        return False
    if type(item.op.parent_op()) is NoReorderOp:
        return False
    values = operand_tuple(item.op)
    return not any(
        type(value.type) is RegisterType or index_of(value) is not None for value in values
    )


class _Region:
    """The dependences among the items of a region. An item is represented by its index."""

    def __init__(
        self, items: Sequence[Item], movable: set[Item], durations: Durations, clock: _Clock
    ):
        """Compute the dependences.

        Args:
            items: the items of the region.
            movable: the triggers of the Sync Engine that may be reordered.
            durations: the durations of instructions.
            clock: the state at the start of the region.
        """
        self.items, self.durations, self.clock = items, durations, clock
        self.traffic = Traffic(durations)
        places = {item: place for place, item in enumerate(items)}
        self.movable = {places[item] for item in movable}
        self.missing = [0] * len(items)
        """For each item, the number of items that it waits for."""
        self.waiters: list[list[int]] = [[] for _ in items]
        """For each item, the items that wait for it; then the same for each entry of `late`."""
        self.results: dict[int, list[int]] = {}
        """For each instruction, the instructions of the same engine whose results it reads."""
        self._on_chip = OnChip()
        self._written: dict[tuple[Queue, int], list[tuple[SSAValue, int]]] = {}
        """For each engine and allocation (`id`), the latest writes: (tile, item)."""
        self.late: list[tuple[float, int]] = []
        """Ends of predecessors outside of the region: (time in ns, index into `waiters`)."""
        self.heads: dict[Queue, list[int]] = {}
        """The items that each queue can start, in order.

        For an engine, these are all its items in program order. For a ring of the Sync Engine,
        these are the transfers that have been triggered.
        """
        self.transfers: dict[int, list[int]] = {}
        """For each trigger of the Sync Engine, the transfers that it starts."""
        waiters, heads = self.waiters, self.heads
        for place, item in enumerate(items):
            before: set[int] = set()
            late = 0.0
            for earlier, carried, _, _ in item.edges:
                if not carried and earlier in places:
                    before.add(places[earlier])
                else:
                    late = max(late, clock.end_of(earlier, carried=carried))
            if late:
                before.add(len(waiters))
                self.late.append((late, len(waiters)))
                waiters.append([])
            trigger = item.trigger if type(item) is EngineInstruction else None
            if trigger is not None:
                before.add(places[trigger])
            for other in before:
                waiters[other].append(place)
            self.missing[place] = len(before)
            if item.queue in READS_ITSELF and type(item) is EngineInstruction:
                self._note_results(place, item)
            head = heads.setdefault(item.queue, [])
            if trigger is not None and trigger.queue is Queue.sync:
                self.transfers.setdefault(places[trigger], []).append(place)
            else:
                head.append(place)
        self.followers = {
            places[trigger]: [places[follower] for follower in followers]
            for trigger, followers in _followers(items, movable).items()
        }
        """For each trigger, the later triggers of the same ring that must stay after it."""
        for followers in self.followers.values():
            for follower in followers:
                self.missing[follower] += 1

    def _note_results(self, place: int, instruction: EngineInstruction) -> None:
        reads, writes = self._on_chip.touched(instruction)
        queue, written = instruction.queue, self._written
        for base, value in reads:
            for other, writer in written.get((queue, base), ()):
                if self._on_chip.meet(other, value):
                    self.results.setdefault(place, []).append(writer)
        for base, value in writes:
            last = written.setdefault((queue, base), [])
            last.append((value, place))
            del last[:-_MAX_PENDING]

    def times(self, place: int) -> tuple[float, float]:
        """Return the time for which an item occupies its queue, and its latency, in ns."""
        item = self.items[place]
        return self.durations.of(item) if type(item) is EngineInstruction else (0.0, 0.0)

    def ranks(self) -> list[float]:
        """Return, for each item, the time in ns of the longest dependent chain from the item on."""
        ranks = [0.0] * len(self.items)
        for place in range(len(ranks) - 1, -1, -1):
            longest = max([ranks[waiter] for waiter in self.waiters[place]], default=0.0)
            ranks[place] = self.times(place)[1] + longest
        return ranks

    def fastest(self) -> _Run:
        """Simulate with three priorities of triggers; return the run that ends first.

        The priorities are program order, the longest chain of dependent items (`ranks`), and the
        latest start (`_Run.latest`) in the faster of the first two runs.
        """
        best = _Run(self, range(len(self.items)))
        if best.end > best.busiest * NEAR:
            best = min(best, _Run(self, [-rank for rank in self.ranks()]), key=_end)
            best = min(best, _Run(self, best.latest()), key=_end)
        return best


class _Run:
    """A simulation of a region. The order in which items start is their new order."""

    def __init__(self, region: _Region, priorities: Sequence[float]):
        """Simulate the region.

        Args:
            region: the region.
            priorities: a number for each item; the ready trigger with the least number starts.
        """
        self._region = region
        self._priorities = priorities
        self._durations, self._traffic = region.durations, region.traffic
        self._items, self._movable = region.items, region.movable
        self._missing = list(region.missing)
        """For each item, the number of predecessors that have not ended."""
        self._heads = {queue: deque(places) for queue, places in region.heads.items()}
        """For each queue, the items that have not started."""
        self._free = dict(region.clock.free)
        self._open: set[int] = set()
        """The movable triggers among which the Sync Engine may choose."""
        self._turns: deque[int] = deque()
        """The open triggers in program order, including some that have started."""
        self._dma = region.clock.dma.fork()
        self._ready: list[tuple[float, int]] = []
        """A heap of the open triggers that can start: (priority, item)."""
        self._ends: list[tuple[float, int]] = list(region.late)
        self._end_of = [0.0] * len(self._items)
        self._busy = dict(self._free)
        self._engines_busy = self._dma.busy_until
        self._last_end = dict.fromkeys(Queue, 0.0)
        self._began: list[int] = []
        """The items in the order of their starts."""
        heapq.heapify(self._ends)
        self._run()
        self.end = max(self._end_of)
        """The time in ns at which all items have ended."""
        assert len(self._began) == len(self._items), "program order keeps all that items wait for"

    @property
    def order(self) -> list[Item]:
        return [self._items[place] for place in self._began]

    @property
    def busiest(self) -> float:
        """The time in ns that the busiest queue, or the DMA engines, would need without waits."""
        return max(*self._busy.values(), self._engines_busy)

    def latest(self) -> list[float]:
        """Return the latest start of each item, in ns, that does not delay the end of the run.

        Engines keep program order, so an instruction also delays the later instructions of its
        queue.
        """
        region, end = self._region, self.end
        latest = [0.0] * len(self._items)
        following: dict[Queue, float] = {}
        for place in reversed(self._began):
            issue, latency = region.times(place)
            time = end - latency
            for waiter in region.waiters[place]:
                time = min(time, latest[waiter] - latency)
            queue = self._items[place].queue
            if queue is not Queue.sync and not queue.is_ring:
                time = min(time, following.get(queue, end) - issue)
                following[queue] = time
            latest[place] = time
        return latest

    def leave(self) -> None:
        """Store the state after the region in the region's clock, for the next region."""
        clock = self._region.clock
        clock.free, clock.dma = self._free, self._dma
        clock.ends.update(zip(self._items, self._end_of, strict=True))

    def _run(self) -> None:
        items, missing, waiters = self._items, self._missing, self._region.waiters
        ends = self._ends
        for queue in list(self._heads):
            self._serve(queue, 0.0)
        if Queue.sync in self._heads and self._free[Queue.sync]:
            heapq.heappush(ends, (self._free[Queue.sync], -1))
        while ends:
            now, place = heapq.heappop(ends)
            if place < 0:
                self._serve_sync(now)
                continue
            for waiter in waiters[place]:
                missing[waiter] -= 1
                if missing[waiter]:
                    continue
                if waiter in self._open:
                    self._make_ready(waiter)
                self._serve(items[waiter].queue, now)

    def _serve(self, queue: Queue, now: float) -> None:
        if queue is Queue.sync:
            self._serve_sync(now)
            return
        waiting, missing = self._heads[queue], self._missing
        while waiting and not missing[waiting[0]]:
            free = 0.0 if queue.is_ring else self._free[queue]
            self._begin(waiting.popleft(), free if free > now else now)

    def _serve_sync(self, now: float) -> None:
        waiting = self._heads[Queue.sync]
        while self._free[Queue.sync] <= now:
            if not self._open:
                if not waiting:
                    return
                if waiting[0] not in self._movable:
                    if self._missing[waiting[0]]:
                        return
                    self._begin_sync(waiting.popleft(), now)
                    continue
                while waiting and waiting[0] in self._movable:
                    place = waiting.popleft()
                    self._open.add(place)
                    self._turns.append(place)
                    if not self._missing[place]:
                        self._make_ready(place)
            if not self._ready:
                return
            place = self._ready[0][1]
            early = self._dma.busy_until - self._lead_of(place)
            if early > now and place != self._next_in_turn():
                heapq.heappush(self._ends, (early, -1 - place))
                return
            heapq.heappop(self._ready)
            self._open.remove(place)
            self._begin_sync(place, now)

    def _make_ready(self, trigger: int) -> None:
        heapq.heappush(self._ready, (self._priorities[trigger], trigger))

    def _next_in_turn(self) -> int:
        """Return the first open trigger in program order."""
        turns = self._turns
        while turns[0] not in self._open:
            turns.popleft()
        return turns[0]

    def _lead_of(self, trigger: int) -> float:
        """Return the remaining work of the DMA engines, in ns, above which a DMA waits its turn.

        It is the time of the DMA from trigger to end, which the transfers under way then hide.
        """
        item = self._items[trigger]
        assert isinstance(item, EngineInstruction)
        return self._durations.transfer(item).latency_ns

    def _begin_sync(self, place: int, now: float) -> None:
        self._begin(place, now)
        for transfer in self._region.transfers.get(place, ()):
            queue = self._items[transfer].queue
            self._heads[queue].append(transfer)
            self._serve(queue, now)
        for follower in self._region.followers.get(place, ()):
            self._missing[follower] -= 1
            if not self._missing[follower] and follower in self._open:
                self._make_ready(follower)
        heapq.heappush(self._ends, (self._free[Queue.sync], -1 - place))

    def _begin(self, place: int, start: float) -> None:
        item, queue = self._items[place], self._items[place].queue
        issue, latency = self._region.times(place)
        for writer in self._region.results.get(place, ()):
            start = max(start, self._end_of[writer])
        end, free = start + latency, start + issue
        if type(item) is EngineInstruction and item.what is What.transfer:
            transfer = self._durations.transfer(item)
            # A ring starts its next transfer when the DMA engines have accepted this one.
            arrival = max(start + transfer.dispatch_ns, self._free[queue])
            served = self._dma.serve(arrival, transfer, self._traffic.of(item).hbm_bytes, place)
            end, free = served.end + transfer.notify_ns, served.begin
            self._engines_busy += self._durations.engines_ns(item)
        else:
            self._busy[queue] += issue
        end = max(end, self._last_end[queue])
        self._free[queue] = free
        self._last_end[queue] = self._end_of[place] = end
        self._began.append(place)
        if type(item) is EngineInstruction and item.what not in _OF_DMA:
            end += self._durations.semaphore_ns
        heapq.heappush(self._ends, (end, place))


_end = attrgetter("end")


def _followers(items: Sequence[Item], movable: set[Item]) -> dict[Item, list[Item]]:
    """Return, for each movable trigger, the later triggers that must stay after it.

    If only a ring's last access to a tensor has an edge, the ring's triggers that access the tensor
    keep their order.
    """
    keeps_order: dict[SSAValue, bool] = {}
    last: dict[tuple[Queue, SSAValue], Item] = {}
    found: dict[Item, list[Item]] = {}
    for item in items:
        if type(item) is not EngineInstruction or item.trigger not in movable:
            continue
        trigger = item.trigger
        before: list[Item] = []
        for _, value, _, _ in effects(item.op):
            base = base_of(value)
            if base not in keeps_order:
                keeps_order[base] = _is_read_and_written(base)
            if not keeps_order[base]:
                continue
            other = last.get((item.queue, base))
            if other is not None and other is not trigger and other not in before:
                before.append(other)
            last[item.queue, base] = trigger
        for other in before:
            found.setdefault(other, []).append(trigger)
    return found


def _is_read_and_written(base: SSAValue) -> bool:
    """Whether instructions both read and write a tensor; True for all on-chip tiles."""
    if info_of(base).region.on_chip:
        return True
    uses = (use for value in (base, *views_of(base)) for use in value.uses)
    roles = {role_of(use) for use in uses if type(use.operation) is not ReturnOp}
    return Role.update in roles or roles >= {Role.read, Role.write}
