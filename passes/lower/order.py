"""The order in which the queues of a block run their items.

Engines keep the program's order. Only the triggers of DMAs in the queue of the Sync Engine change
places: a store that waits for its data would hold up the loads after it. They are ordered as in
a run in which the Sync Engine starts a DMA that is ready, with durations from the cost model. Three
choices among those that are ready are tried: the first of the program, the one from which the
longest chain of others hangs, and the one that is most urgent in the faster of these two runs. The
order that ends first is taken. A ring takes DMAs in the order in which they are started, so one
that waits holds up none that does not depend on it. Nor does one that is started early: while the
DMA engines have enough to do, the Sync Engine waits for the DMA whose turn it is in the program.

Who waits for several accesses of a ring to one tensor has an edge to the last of them only
(`Accesses`). So DMAs of one ring that touch the same tensor keep the program's order, unless
nothing writes it, or nothing reads it: of writes all have an edge to the next write.

What is between two loops on the device, or in one, is ordered by itself, and nothing passes a
loop. What an item waits for in the same iteration is then before it in the new order, too, and so
is all that a loop waits for in whichever queue: run in this order, one after the other, no item
has to wait, so queues cannot wait for each other for ever. What it waits for in the iteration
before has ended with that iteration, whatever its place there. And a ring comes to an iteration,
or to what is behind a loop, when all of what it had before has begun: only accesses of one stretch
can change places.

A run of what is after a loop begins where that loop ends in each queue, which two iterations of its
body show: an instruction that needs the results of a loop of another engine is not ready before.

What reads registers, and what is in `nl.no_reorder`, keeps its place. So does an instruction in
which cores meet: a run of one core does not know when the other one comes, and after what waits
for a meeting the next one may be what the other core has to get first.
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
_ON_THEIR_WAY = 4
"""Results of an engine in one tensor that an instruction may have to wait for; others are there."""
NEAR = 1.005
"""An order that takes so much of the busiest queue's time is not worth a better one."""


class Ordering:
    """The order of the items of each block, so that each comes after all that it waits for.

    Orders the Sync Engine's queue and the rings that it starts, by the durations of instructions.
    """

    def __init__(self, program: Program, durations: Durations):
        self._program = program
        self._durations = durations
        self._ordered: dict[Loop | None, list[Item]] = {}
        self._spans: dict[Loop, _Span] = {}
        self._ranges: Ranges | None = None

    def of(self, loop: Loop | None) -> list[Item]:
        """The items of a block in their order, in which its queues are then, too."""
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
                ordered += part  # nothing to order, and nothing after it
            elif kind is QueueLoop:
                self._pass(part, clock)
                ordered += part
            elif len(movable) < 2:
                self._run(part, clock)
                ordered += part
            else:
                run = _Stretch(part, movable, self._durations, clock).fastest()
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

    def _pass(self, loops: Sequence[Item], clock: _Clock) -> None:
        """Run the loops that stand beside each other in a block."""
        for body, each in groupby(cast("Sequence[QueueLoop]", loops), attrgetter("body")):
            inside = list(each)
            # Iterations of different queues wait for each other: they begin together.
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
        """What a loop takes, from two of its iterations."""
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
        """Run the items of a block as they are ordered."""
        for kind, part in groupby(items, type):
            if kind is QueueLoop:
                self._pass(list(part), clock)
            else:
                self._run(list(part), clock)

    def _run(self, items: Sequence[Item], clock: _Clock) -> None:
        """Run items that keep their order."""
        stretch = _Stretch(items, set(), self._durations, clock)
        _Run(stretch, range(len(items))).leave()

    def _count(self, loop: Loop) -> int:
        """How often a loop runs; at least once where that is not known."""
        if not isinstance(loop.op, ForOp):
            return 1
        if self._ranges is None:
            self._ranges = Ranges(self._program.kernel)
        least, most = self._ranges.trip_counts(loop.op)
        return least if least == most else max(1, least)


class _Span(NamedTuple):
    """What a loop takes, from its beginning."""

    free: dict[Queue, float]
    """When each of its queues can begin what comes after it."""
    ends: dict[Queue, float]
    """When all that is in each of its queues has ended."""
    dma_busy_until: float
    """When the DMA engines have done what it has started; 0 if that is nothing."""


class _Clock:
    """When what is before a stretch of a block ends."""

    def __init__(self, target: Target) -> None:
        self.free = dict.fromkeys(Queue, 0.0)
        """When each queue can begin something."""
        self.dma: DmaEngines[int] = DmaEngines(target)
        self.ends: dict[Item, float] = {}
        """When the items of the block that come before the stretch have ended."""
        self.before: dict[Item, float] = {}
        """The same in the iteration before, where that is known."""

    def end_of(self, item: Item, *, carried: bool) -> float:
        """When an item before the stretch ends, here or in the iteration before."""
        return (self.before if carried else self.ends).get(item, 0.0)


def _is_movable(item: Item) -> bool:
    """True for a trigger of the Sync Engine that depends on nothing but the tiles it moves."""
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


class _Stretch:
    """What items of a block wait for. They are numbers: their places in the stretch."""

    def __init__(
        self, items: Sequence[Item], movable: set[Item], durations: Durations, clock: _Clock
    ):
        """
        Args:
            items: the stretch.
            movable: the triggers of the Sync Engine that may change places.
            durations: of instructions.
            clock: when what is before the stretch ends.
        """
        self.items, self.durations, self.clock = items, durations, clock
        self.traffic = Traffic(durations)
        places = {item: place for place, item in enumerate(items)}
        self.movable = {places[item] for item in movable}
        self.missing = [0] * len(items)
        """How many others an item waits for."""
        self.waiters: list[list[int]] = [[] for _ in items]
        """Those that wait for each item; behind these, for each of `late`."""
        self.results: dict[int, list[int]] = {}
        """The instructions of its own engine whose results an instruction reads."""
        self._on_chip = OnChip()
        self._written: dict[tuple[Queue, int], list[tuple[SSAValue, int]]] = {}
        """What an engine has written of an allocation, and where."""
        self.late: list[tuple[float, int]] = []
        """When something ends that is before the stretch, and its number."""
        self.heads: dict[Queue, list[int]] = {}
        """What each queue begins: engines all of it in program order, the rings of the Sync Engine
        what has been triggered."""
        self.transfers: dict[int, list[int]] = {}
        """What each trigger of the Sync Engine starts."""
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
        """After each trigger those of its ring that come later."""
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
            del last[:-_ON_THEIR_WAY]

    def times(self, place: int) -> tuple[float, float]:
        """How long an item keeps its queue, and until its results can be used, in ns."""
        item = self.items[place]
        return self.durations.of(item) if type(item) is EngineInstruction else (0.0, 0.0)

    def ranks(self) -> list[float]:
        """The time from the beginning of each item to the end of all that need it."""
        ranks = [0.0] * len(self.items)
        for place in range(len(ranks) - 1, -1, -1):
            behind = max([ranks[waiter] for waiter in self.waiters[place]], default=0.0)
            ranks[place] = self.times(place)[1] + behind
        return ranks

    def fastest(self) -> _Run:
        """The run that ends first, of three.

        Of the triggers that are ready, the Sync Engine starts the first of the program, the one
        from which the longest chain of others hangs, or the one that is most urgent in the faster
        of these two runs.
        """
        best = _Run(self, range(len(self.items)))
        if best.end > best.busiest * NEAR:
            best = min(best, _Run(self, [-rank for rank in self.ranks()]), key=_end)
            best = min(best, _Run(self, best.latest()), key=_end)
        return best


class _Run:
    """A run of a stretch of a block, in the order of time."""

    def __init__(self, stretch: _Stretch, priorities: Sequence[float]):
        """
        Args:
            stretch: it.
            priorities: of triggers among which the Sync Engine may choose; the least goes first.
        """
        self._stretch = stretch
        self._priorities = priorities
        self._durations, self._traffic = stretch.durations, stretch.traffic
        self._items, self._movable = stretch.items, stretch.movable
        self._missing = list(stretch.missing)
        """How many of those that an item waits for have not ended yet."""
        self._heads = {queue: deque(places) for queue, places in stretch.heads.items()}
        """What each queue has still to begin."""
        self._free = dict(stretch.clock.free)
        self._open: set[int] = set()
        """The triggers among which the Sync Engine has the choice."""
        self._turns: deque[int] = deque()
        """These in the order of the program, with some of those that have begun."""
        self._dma = stretch.clock.dma.fork()
        self._ready: list[tuple[float, int]] = []
        """Those of them that can begin, the best on top."""
        self._ends: list[tuple[float, int]] = list(stretch.late)
        self._end_of = [0.0] * len(self._items)
        self._busy = dict(self._free)
        self._engines_busy = self._dma.busy_until
        self._last_end = dict.fromkeys(Queue, 0.0)
        self._began: list[int] = []
        """The places of the items in the order in which they begin."""
        heapq.heapify(self._ends)
        self._run()
        self.end = max(self._end_of)
        """When all items have ended."""
        assert len(self._began) == len(self._items), "program order keeps all that items wait for"

    @property
    def order(self) -> list[Item]:
        """The items in the order in which they begin."""
        return [self._items[place] for place in self._began]

    @property
    def busiest(self) -> float:
        """When the queue, or the DMA engines, that have most to do could have done it."""
        return max(*self._busy.values(), self._engines_busy)

    def latest(self) -> list[float]:
        """When each item has to begin for those that hang from it not to be late.

        Engines keep the program's order, so an instruction holds up those after it, too.
        """
        stretch, end = self._stretch, self.end
        latest = [0.0] * len(self._items)
        following: dict[Queue, float] = {}
        for place in reversed(self._began):
            issue, latency = stretch.times(place)
            time = end - latency
            for waiter in stretch.waiters[place]:
                time = min(time, latest[waiter] - latency)
            queue = self._items[place].queue
            if queue is not Queue.sync and not queue.is_ring:
                time = min(time, following.get(queue, end) - issue)
                following[queue] = time
            latest[place] = time
        return latest

    def leave(self) -> None:
        """Let the clock say when the items have ended."""
        clock = self._stretch.clock
        clock.free, clock.dma = self._free, self._dma
        clock.ends.update(zip(self._items, self._end_of, strict=True))

    def _run(self) -> None:
        items, missing, waiters = self._items, self._missing, self._stretch.waiters
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
        """Begin what a queue can begin."""
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
        """Nothing that a trigger waits for is left."""
        heapq.heappush(self._ready, (self._priorities[trigger], trigger))

    def _next_in_turn(self) -> int:
        """The trigger that is the first of the program among those that are open."""
        turns = self._turns
        while turns[0] not in self._open:
            turns.popleft()
        return turns[0]

    def _lead_of(self, trigger: int) -> float:
        """What the DMA engines have to have before them for a DMA to wait for its turn, in ns.

        As long as it takes itself, from its trigger to its end: others overlap all of it then.
        """
        item = self._items[trigger]
        assert isinstance(item, EngineInstruction)
        return self._durations.transfer(item).latency_ns

    def _begin_sync(self, place: int, now: float) -> None:
        self._begin(place, now)
        for transfer in self._stretch.transfers.get(place, ()):
            queue = self._items[transfer].queue
            self._heads[queue].append(transfer)
            self._serve(queue, now)
        for follower in self._stretch.followers.get(place, ()):
            self._missing[follower] -= 1
            if not self._missing[follower] and follower in self._open:
                self._make_ready(follower)
        heapq.heappush(self._ends, (self._free[Queue.sync], -1 - place))

    def _begin(self, place: int, start: float) -> None:
        item, queue = self._items[place], self._items[place].queue
        issue, latency = self._stretch.times(place)
        for writer in self._stretch.results.get(place, ()):
            start = max(start, self._end_of[writer])
        end, free = start + latency, start + issue
        if type(item) is EngineInstruction and item.what is What.transfer:
            transfer = self._durations.transfer(item)
            # A ring begins with the next one when the DMA engines have taken this one up.
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
    """After each trigger those that have to come later: the next of its ring for each tensor of
    which only the ring's last access is waited for."""
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
    """True when instructions read and write a tensor: as all tiles that are used."""
    if info_of(base).region.on_chip:
        return True
    uses = (use for value in (base, *views_of(base)) for use in value.uses)
    roles = {role_of(use) for use in uses if type(use.operation) is not ReturnOp}
    return Role.update in roles or roles >= {Role.read, Role.write}
