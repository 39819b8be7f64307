"""The order in which the queues of a block run their items.

Engines keep the program's order. Only the triggers of DMAs in the queue of the Sync Engine change
places: a store that waits for its data would hold up the loads after it. They are ordered as in
a run in which the Sync Engine starts the first DMA of the program that is ready, with durations
from the cost model. A ring takes DMAs in the order in which they are started, so one that waits
holds up none that does not depend on it. Those of one ring that read the same tensor keep the
program's order where something writes it: what waits for the ring's last read of it has waited
for the earlier ones. In a program with loops all of them do: what waits for an iteration stands for
the one before.

What reads registers, and what is in `nl.no_reorder`, keeps its place. So does an instruction in
which cores meet: a run of one core does not know when the other one comes, and after what waits
for a meeting the next one may be what the other core has to get first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects, role_of
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import NoReorderOp
from nkijit.dialects.nki.views import base_of, index_of, views_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import Instruction, Item, Program, Queue, What

_WAITING = frozenset(WAITING)


def in_order(program: Program, items: Sequence[Item], durations: Durations) -> list[Item]:
    """The items of a block so that each comes after all that it waits for.

    Orders the Sync Engine's queue and the rings that it starts, by the durations of instructions.
    """
    movable = {item for item in items if _is_movable(item)}
    if len(movable) < 2:
        return list(items)
    ordered = _Run(items, movable, durations, in_program_order=bool(program.loops)).run()
    assert len(ordered) == len(items), "program order keeps all that items wait for"
    loop = items[0].loop
    queues = program.queues if loop is None else {q: i.items for q, i in loop.queues.items()}
    for queue in {item.queue for item in ordered if item in movable or item.queue.is_ring}:
        queues[queue][:] = [item for item in ordered if item.queue is queue]
    return ordered


def _is_movable(item: Item) -> bool:
    """True for a trigger of the Sync Engine that depends on nothing but the tiles it moves."""
    if not isinstance(item, Instruction) or item.what is not What.trigger:
        return False
    if item.queue is not Queue.sync or type(item.op) in _WAITING:
        return False
    if isinstance(item.op.parent_op(), NoReorderOp):
        return False
    values = item.op._operands  # pyright: ignore[reportPrivateUsage]
    return not any(
        type(value.type) is RegisterType or index_of(value) is not None for value in values
    )


class _Run:
    """A run of a block, in the order of time."""

    def __init__(
        self,
        items: Sequence[Item],
        movable: set[Item],
        durations: Durations,
        *,
        in_program_order: bool,
    ):
        """`in_program_order`: the rings of the Sync Engine keep to it."""
        self._durations = durations
        self._movable = movable
        self._place = {item: place for place, item in enumerate(items)}
        self._missing: dict[Item, int] = {}
        """How many of those that an item waits for have not ended yet."""
        self._waiters: dict[Item, list[Item]] = {}
        self._heads: dict[Queue, deque[Item]] = {}
        """What each queue has still to begin: engines all of it in program order, and so rings if
        they keep to it, else what has been triggered."""
        self._transfers: dict[Item, list[Item]] = {}
        """What each trigger of the Sync Engine starts."""
        self._free = dict.fromkeys(Queue, 0.0)
        self._open: set[Item] = set()
        """The triggers among which the Sync Engine has the choice."""
        self._ready: list[tuple[int, Item]] = []
        """Those of them that can begin, the first of the program on top."""
        self._ends: list[tuple[float, int, Item]] = []
        self._began: list[Item] = []
        for item in items:
            before = {wait.before for wait in item.edges if not wait.carried}
            trigger = item.trigger if isinstance(item, Instruction) else None
            if trigger is not None:
                before.add(trigger)
            self._missing[item] = len(before)
            for other in before:
                self._waiters.setdefault(other, []).append(item)
            heads = self._heads.setdefault(item.queue, deque())
            if trigger is not None and trigger.queue is Queue.sync and not in_program_order:
                self._transfers.setdefault(trigger, []).append(item)
            else:
                heads.append(item)
        self._followers = _followers(items, movable, in_program_order=in_program_order)
        """After each trigger those of its ring that come later."""
        for followers in self._followers.values():
            for follower in followers:
                self._missing[follower] += 1

    def run(self) -> list[Item]:
        """The items in the order in which they begin."""
        for queue in list(self._heads):
            self._serve(queue, 0.0)
        while self._ends:
            now, place, item = heapq.heappop(self._ends)
            if place < 0:
                self._serve_sync(now)
                continue
            for waiter in self._waiters.get(item, ()):
                self._missing[waiter] -= 1
                if self._missing[waiter]:
                    continue
                if waiter in self._open:
                    heapq.heappush(self._ready, (self._place[waiter], waiter))
                self._serve(waiter.queue, now)
        return self._began

    def _serve(self, queue: Queue, now: float) -> None:
        """Begin what a queue can begin."""
        if queue is Queue.sync:
            self._serve_sync(now)
            return
        waiting = self._heads[queue]
        while waiting and not self._missing[waiting[0]]:
            self._begin(waiting.popleft(), max(now, self._free[queue]))

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
                    item = waiting.popleft()
                    self._open.add(item)
                    if not self._missing[item]:
                        heapq.heappush(self._ready, (self._place[item], item))
            if not self._ready:
                return
            _, item = heapq.heappop(self._ready)
            self._open.remove(item)
            self._begin_sync(item, now)

    def _begin_sync(self, item: Item, now: float) -> None:
        self._begin(item, now)
        for transfer in self._transfers.get(item, ()):
            self._heads[transfer.queue].append(transfer)
            self._serve(transfer.queue, now)
        for follower in self._followers.get(item, ()):
            self._missing[follower] -= 1
            if not self._missing[follower] and follower in self._open:
                heapq.heappush(self._ready, (self._place[follower], follower))
        heapq.heappush(self._ends, (self._free[Queue.sync], -1 - self._place[item], item))

    def _begin(self, item: Item, start: float) -> None:
        issue = latency = 0.0
        if isinstance(item, Instruction):
            duration = self._durations.of(item)
            issue, latency = duration.issue, duration.latency
        self._free[item.queue] = start + issue
        self._began.append(item)
        heapq.heappush(self._ends, (start + latency, self._place[item], item))


def _followers(
    items: Sequence[Item], movable: set[Item], *, in_program_order: bool
) -> dict[Item, list[Item]]:
    """After each trigger those that have to come later: the next of its ring if rings keep to the
    program's order, else the next of each tensor that is read and written."""
    if in_program_order:
        return _in_rings(items, movable)
    transfers = [
        (item.queue, item.trigger, [(base_of(v), role) for _, v, role, _ in effects(item.op)])
        for item in items
        if isinstance(item, Instruction) and item.trigger in movable
    ]
    read = {(q, base) for q, _, uses in transfers for base, role in uses if role is not Role.write}
    written = {base: _is_written(base) for _, base in read}
    last: dict[tuple[Queue, SSAValue], Item] = {}
    found: dict[Item, list[Item]] = {}
    for queue, trigger, uses in transfers:
        assert trigger is not None
        before: list[Item] = []
        for base, _ in uses:
            key = (queue, base)
            if key in read and written[base]:
                other = last.get(key)
                if other is not None and other is not trigger and other not in before:
                    before.append(other)
                last[key] = trigger
        for other in before:
            found.setdefault(other, []).append(trigger)
    return found


def _in_rings(items: Sequence[Item], movable: set[Item]) -> dict[Item, list[Item]]:
    last: dict[Queue, Item] = {}
    found: dict[Item, list[Item]] = {}
    for item in items:
        if isinstance(item, Instruction) and item.trigger in movable:
            before = last.get(item.queue)
            if before is not None and before is not item.trigger:
                found[before] = [item.trigger]
            last[item.queue] = item.trigger
    return found


def _is_written(base: SSAValue) -> bool:
    """True when an instruction writes to a tensor: as to all tiles that something reads."""
    if info_of(base).region.on_chip:
        return True
    uses = (use for value in (base, *views_of(base)) for use in value.uses)
    return any(role_of(use) not in (None, Role.read) for use in uses)
