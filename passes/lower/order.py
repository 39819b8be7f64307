"""The order in which the queues of a block run their items.

Engines keep the program's order. Only the triggers of DMAs in the queue of the Sync Engine change
places: a store that waits for its data would hold up the loads after it. They are ordered as in
a run in which the Sync Engine starts the first DMA of the program that is ready, with durations
from the cost model. A ring takes DMAs in the order in which they are started, so one that waits
holds up none that does not depend on it. Nor does one that is started early: while the DMA engines
have enough to do, the Sync Engine waits for the DMA whose turn it is in the program.

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

What reads registers, and what is in `nl.no_reorder`, keeps its place. So does an instruction in
which cores meet: a run of one core does not know when the other one comes, and after what waits
for a meeting the next one may be what the other core has to get first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import groupby

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects, role_of
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import NoReorderOp, ReturnOp
from nkijit.dialects.nki.views import base_of, index_of, views_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import EngineInstruction, Item, Program, Queue, QueueLoop, What


def in_order(program: Program, items: Sequence[Item], durations: Durations) -> list[Item]:
    """The items of a block so that each comes after all that it waits for.

    Orders the Sync Engine's queue and the rings that it starts, by the durations of instructions.
    """
    ordered: list[Item] = []
    changed: set[Queue] = set()
    for kind, stretch in groupby(items, type):
        if kind is QueueLoop:
            ordered += stretch
            continue
        part = list(stretch)
        movable = {item for item in part if _is_movable(item)}
        if len(movable) < 2:
            ordered += part
            continue
        run = _Run(part, movable, durations).run()
        assert len(run) == len(part), "program order keeps all that items wait for"
        ordered += run
        changed |= {item.queue for item in part if item in movable or item.queue.is_ring}
    if changed:
        loop = items[0].loop
        queues = program.queues if loop is None else {q: i.items for q, i in loop.queues.items()}
        for queue in changed:
            queues[queue][:] = [item for item in ordered if item.queue is queue]
    return ordered


def _is_movable(item: Item) -> bool:
    """True for a trigger of the Sync Engine that depends on nothing but the tiles it moves."""
    if item.queue is not Queue.sync or type(item) is not EngineInstruction:
        return False
    if item.what is not What.trigger or type(item.op) in WAITING:
        return False
    if type(item.op.parent_op()) is NoReorderOp:
        return False
    values = item.op._operands  # pyright: ignore[reportPrivateUsage]
    return not any(
        type(value.type) is RegisterType or index_of(value) is not None for value in values
    )


class _Run:
    """A run of a stretch of a block, in the order of time: what is before it has ended.

    Items are numbers: their places in the stretch.
    """

    def __init__(self, items: Sequence[Item], movable: set[Item], durations: Durations):
        self._items = items
        self._durations = durations
        places = {item: place for place, item in enumerate(items)}
        self._movable = {places[item] for item in movable}
        self._missing = [0] * len(items)
        """How many of those that an item waits for have not ended yet."""
        self._waiters: list[list[int]] = [[] for _ in items]
        self._heads: dict[Queue, deque[int]] = {}
        """What each queue has still to begin: engines all of it in program order, the rings of the
        Sync Engine what has been triggered."""
        self._transfers: dict[int, list[int]] = {}
        """What each trigger of the Sync Engine starts."""
        self._free = dict.fromkeys(Queue, 0.0)
        self._open: set[int] = set()
        """The triggers among which the Sync Engine has the choice."""
        self._turns: deque[int] = deque()
        """These in the order of the program, with some of those that have begun."""
        self._engines_free = 0.0
        """When the DMA engines will have done what has been started."""
        self._ready: list[tuple[int, int]] = []
        """Those of them that can begin, the first of the program on top."""
        self._ends: list[tuple[float, int]] = []
        self._began: list[Item] = []
        waiters, heads = self._waiters, self._heads
        for place, item in enumerate(items):
            before: set[int] = set()
            for earlier, carried, _, _ in item.edges:
                if not carried and earlier in places:
                    before.add(places[earlier])
            trigger = item.trigger if type(item) is EngineInstruction else None
            if trigger is not None:
                before.add(places[trigger])
            for other in before:
                waiters[other].append(place)
            self._missing[place] = len(before)
            queue = item.queue
            head = heads.get(queue)
            if head is None:
                head = heads[queue] = deque()
            if trigger is not None and trigger.queue is Queue.sync:
                self._transfers.setdefault(places[trigger], []).append(place)
            else:
                head.append(place)
        self._followers = {
            places[trigger]: [places[follower] for follower in followers]
            for trigger, followers in _followers(items, movable).items()
        }
        """After each trigger those of its ring that come later."""
        for followers in self._followers.values():
            for follower in followers:
                self._missing[follower] += 1

    def run(self) -> list[Item]:
        """The items in the order in which they begin."""
        items, missing, waiters, ends = self._items, self._missing, self._waiters, self._ends
        for queue in list(self._heads):
            self._serve(queue, 0.0)
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
        return self._began

    def _serve(self, queue: Queue, now: float) -> None:
        """Begin what a queue can begin."""
        if queue is Queue.sync:
            self._serve_sync(now)
            return
        waiting, missing = self._heads[queue], self._missing
        while waiting and not missing[waiting[0]]:
            free = self._free[queue]
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
            early = self._engines_free - self._lead_of(place)
            if early > now and place != self._next_in_turn():
                heapq.heappush(self._ends, (early, -1 - place))
                return
            heapq.heappop(self._ready)
            self._open.remove(place)
            self._begin_sync(place, now)

    def _make_ready(self, trigger: int) -> None:
        """Nothing that a trigger waits for is left."""
        heapq.heappush(self._ready, (trigger, trigger))

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
        for transfer in self._transfers.get(place, ()):
            queue = self._items[transfer].queue
            self._heads[queue].append(transfer)
            self._serve(queue, now)
        for follower in self._followers.get(place, ()):
            self._missing[follower] -= 1
            if not self._missing[follower] and follower in self._open:
                self._make_ready(follower)
        heapq.heappush(self._ends, (self._free[Queue.sync], -1 - place))

    def _begin(self, place: int, start: float) -> None:
        item = self._items[place]
        issue = latency = 0.0
        if type(item) is EngineInstruction:
            issue, latency = self._durations.of(item)
            if item.what is What.transfer:
                # The DMA engines serve all rings.
                ready = start + self._durations.transfer(item).dispatch_ns
                begun = max(self._engines_free, ready)
                self._engines_free = begun + self._durations.engines_ns(item)
                latency += begun - ready
        self._free[item.queue] = start + issue
        self._began.append(item)
        heapq.heappush(self._ends, (start + latency, place))


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
