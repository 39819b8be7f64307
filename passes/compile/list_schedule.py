"""`list-schedule`: instructions in the order in which engines can begin them.

Engines run their instructions in order, so one that waits holds up all behind it. Each stretch of
instructions that may change places is run as engines would that need not wait, with durations from
the cost model: one that is free begins something that is ready, and the order in which instructions
begin is the order that they get. What that should be, where several are ready, is tried: the first
of the program, and the one from which the longest chain of others hangs. The faster order is taken,
or the author's if none is faster.

An instruction that needs a new tile begins only while all tiles in use fit into a part of the
memory; the rest is left for what does not lie side by side. An order that finds no room is given
up. Loops, prints, registers, what cores meet in, and what is in `nl.no_reorder` keep their places,
and nothing passes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate
from math import inf
from operator import itemgetter
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import DECLARATIONS, AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.order import Kept, is_movable, predecessors
from nkijit.passes.lower.forms import Forms
from nkijit.passes.lower.program import Queue

_DECLARATIONS = (*DECLARATIONS, ConstantOp, RegisterOp, arith.ConstantOp)
"""What stands anywhere before its uses."""

ROOM = 0.75
"""The part of SBUF that tiles may take at a time; between tiles there are gaps."""
RESULTS = 0.15
"""The part of SBUF beside that for what is computed."""
NEAR = 1.005
"""An order that takes so much of the busiest resource's time is not worth a better one."""
AHEAD = 1.02
"""The author's order has all the memory here, which it will not have: one that has to do with what
there is may take so much of its time."""
_LOOKED_AT = 8
"""Instructions for which there is no room that are passed over for one behind them."""


@cache
def declares(kind: type[Operation]) -> bool:
    """Whether operations of a class run nothing: they stand anywhere before their uses."""
    # Asked for each operation: classes of xDSL take long to say what they are.
    return issubclass(kind, _DECLARATIONS)


def list_schedule(kernel: KernelOp, room: float = ROOM) -> int:
    """Order the instructions of a kernel; returns how many have changed places."""
    costs, kept = Costs(kernel.target), Kept.by(kernel)
    return sum(_order(block, costs, kept, room) for block in list(blocks(kernel)))


def blocks(op: Operation) -> Iterator[Block]:
    """The blocks of an operation whose instructions may change places."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                if inner.regions and not isinstance(inner, NoReorderOp):
                    yield from blocks(inner)


class Cost(NamedTuple):
    """What an instruction takes, in ns."""

    queue: Queue
    issue: float
    """How long its queue cannot begin another one."""
    latency: float
    """From its beginning until others can use its results."""
    table: str | None
    """The table of activation functions that it needs."""

    @property
    def resource(self) -> object:
        """What is busy: the queue, or the DMA engines, which rings share."""
        return "dma" if self.queue.is_ring else self.queue


class Costs:
    """The costs of instructions on a target."""

    def __init__(self, target: Target):
        self._target = target
        self._forms = Forms(target)
        self._known: dict[int, Cost] = {}

    def of(self, op: NisaOp) -> Cost:
        """The cost of an instruction, found once for those that are alike."""
        form = self._forms.of(op)
        found = self._known.get(form.number)
        if found is None:
            if form.trigger is not None:
                moved = transfer_of(op, self._target)
                busy = moved.engine_ns * moved.engines / self._target.timing.dma.engines
                found = Cost(form.queue, busy, moved.latency_ns, None)
            else:
                times = [stage.cost.time(op, self._target) for _, stage in form.stages]
                issue = sum(issue for issue, _ in times)
                latency = issue + max(wait - busy for busy, wait in times)
                found = Cost(form.queue, issue, latency, form.table)
            self._known[form.number] = found
        return found


def _order(block: Block, costs: Costs, kept: Kept, room: float) -> int:
    ops = list(iter(block.ops))  # a list asks for their number first, which is a walk
    outside = Outside(ops, kept.target)
    new: list[Operation] = []
    changed = 0
    for stretch, fence in stretches(ops):
        if len(stretch) > 2:
            _, order = _best(_Stretch(stretch, costs, kept, outside), room)
            changed += sum(number != place for place, number in enumerate(order))
            new += [stretch[number] for number in order]
        else:
            new += stretch
        if fence is not None:
            new.append(fence)
    if changed:
        _arrange(block, ops, new)
    return changed


def stretches(ops: Sequence[Operation]) -> Iterator[tuple[list[NisaOp], Operation | None]]:
    """Instructions that may change places, with what they must not pass."""
    stretch: list[NisaOp] = []
    for op in ops:
        if declares(type(op)):
            continue
        if is_instruction(op) and is_movable(op):
            stretch.append(op)
        else:
            yield stretch, op
            stretch = []
    yield stretch, None


def _arrange(block: Block, ops: Sequence[Operation], order: Sequence[Operation]) -> None:
    """Put operations into an order, each behind what declares its operands."""
    # Tensors in HBM are those of other cores by their order.
    placed: list[Operation] = [
        op for op in ops if type(op) is AllocOp and not info_of(op.result).region.on_chip
    ]
    declared: dict[object, Operation] = {op: op for op in ops if declares(type(op))}
    for op in placed:
        del declared[op]

    def declare(op: Operation) -> None:
        for inner in op.walk() if op.regions else (op,):
            for value in inner._operands:  # pyright: ignore[reportPrivateUsage]
                owner = declared.pop(value.owner, None)
                if owner is not None:
                    declare(owner)
                    placed.append(owner)

    last = order[-1]
    for op in order:
        if op is last:
            placed += declared.values()
            declared.clear()
        declare(op)
        placed.append(op)
    for op in placed:
        op.detach()
        block.add_op(op)


class Outside:
    """Where in a block its on-chip tensors are used."""

    def __init__(self, ops: Sequence[Operation], target: Target):
        self.place = {op: number for number, op in enumerate(ops)}
        self._target = target
        self.uses: dict[SSAValue, tuple[int, int]] = {}
        """The first and the last use of each."""
        for number, op in enumerate(ops):
            if declares(type(op)):
                continue
            for inner in op.walk() if op.regions else (op,):
                for effect in effects(inner):
                    base = base_of(effect.value)
                    if info_of(base).region.on_chip:
                        known = self.uses.get(base)
                        self.uses[base] = number if known is None else known[0], number
        self.across = [[0.0] * (len(ops) + 2) for _ in range(2)]
        """Bytes per partition, of SBUF and of PSUM, of what is in use before and at each place."""
        for base, (first, last) in self.uses.items():
            memory, size = self.size_of(base)
            self.across[memory][first + 1] += size
            self.across[memory][last + 1] -= size
        self.across = [list(accumulate(changes)) for changes in self.across]

    def size_of(self, base: SSAValue) -> tuple[int, float]:
        """The memory of an on-chip tensor, and its bytes per partition there; whole banks."""
        info = info_of(base)
        if info.region is MemoryRegion.sbuf:
            return 0, float(info.partition_bytes)
        bank = self._target.psum_bank_bytes
        return 1, float(-(-info.partition_bytes // bank) * bank)


class _Stretch:
    """A stretch with all that does not depend on its order."""

    def __init__(self, ops: Sequence[NisaOp], costs: Costs, kept: Kept, outside: Outside):
        self.target = kept.target
        self.costs = [costs.of(op) for op in ops]
        self.moves = [cost.queue.is_ring for cost in self.costs]
        """Whether each is a transfer."""
        self.before = predecessors(ops, kept)
        self.after: list[list[int]] = [[] for _ in ops]
        for number, before in enumerate(self.before):
            for other in before:
                self.after[other].append(number)
        self.places = [float(place) for place in range(len(ops))]
        self.capacity = (
            float(self.target.sbuf_usable_bytes),
            float(self.target.psum_partition_bytes),
        )
        """Bytes per partition of SBUF and of PSUM."""
        start, end = outside.place[ops[0]], outside.place[ops[-1]]
        self.used = [across[start] for across in outside.across]
        """Bytes per partition, of SBUF and of PSUM, of what is in use all the time."""
        self.new: list[list[int]] = [[] for _ in ops]
        """The tiles that an instruction touches which are used in this stretch only."""
        self.sizes: list[tuple[int, float]] = []
        """Of each of them, its place in `used` and its bytes per partition."""
        self.users: list[int] = []
        """How many instructions use each of them."""
        tiles: dict[SSAValue, int | None] = {}
        for number, op in enumerate(ops):
            for base in dict.fromkeys(base_of(effect.value) for effect in effects(op)):
                if base not in tiles:
                    tiles[base] = self._entered(base, start, end, outside)
                tile = tiles[base]
                if tile is not None:
                    self.new[number].append(tile)
                    self.users[tile] += 1

    def _entered(self, base: SSAValue, start: int, end: int, outside: Outside) -> int | None:
        """The number of a tile that this stretch alone uses; others are in use all the time."""
        found = outside.uses.get(base)
        if found is None or found[0] < start:
            return None
        memory, size = outside.size_of(base)
        if found[1] > end:
            self.used[memory] += size
            return None
        self.users.append(0)
        self.sizes.append((memory, size))
        return len(self.sizes) - 1

    def ranks(self) -> list[float]:
        """The time from the beginning of each instruction to the end of all that need it."""
        ranks = [0.0] * len(self.costs)
        for number in range(len(ranks) - 1, -1, -1):
            behind = max((ranks[other] for other in self.after[number]), default=0.0)
            ranks[number] = self.costs[number].latency + behind
        return ranks


def time_of(stretch: Sequence[NisaOp], costs: Costs, kept: Kept, outside: Outside) -> float:
    """How long a stretch takes in the fastest of some orders, in ns."""
    return _best(_Stretch(stretch, costs, kept, outside), ROOM)[0]


def _best(stretch: _Stretch, room: float) -> tuple[float, list[int]]:
    """The fastest of some orders of a stretch: its time in ns, and the order as places in it."""
    author = _Run(stretch, stretch.places, inf, in_order=True)
    author.run()
    best, busiest = author, author.busiest * NEAR
    for priorities in (lambda: stretch.places, lambda: [-rank for rank in stretch.ranks()]):
        run = _Run(stretch, priorities(), room)
        if (
            run.run()
            and run.end != author.end
            and run.end < best.end * (AHEAD if best is author else 1)
        ):
            best = run
        if best.end <= busiest:
            break
    return best.end, list(range(len(best.order))) if best is author else best.order


class _Run:
    """A run of a stretch by the engines."""

    def __init__(
        self,
        stretch: _Stretch,
        priorities: Sequence[float],
        room: float,
        *,
        in_order: bool = False,
    ):
        """
        Args:
            stretch: what runs.
            priorities: of each instruction; the least goes first.
            room: the part of SBUF that tiles may take.
            in_order: queues keep the order of the program.
        """
        self.order: list[int] = []
        """The places of the instructions, in the order in which they begin."""
        self.end = 0.0
        """When all have ended."""
        self._stretch, self._priorities = stretch, priorities
        self._in_order = in_order
        self._free: dict[object, float] = {}
        """When each queue, and the DMA engines, can begin something."""
        self._ready: dict[Queue, list[tuple[float, int]]] = {}
        self._resource: dict[Queue, object] = {}
        self._heads: dict[Queue, deque[int]] = {}
        for number, cost in enumerate(stretch.costs):
            if cost.queue not in self._ready:
                self._resource[cost.queue] = cost.resource
                self._free[self._resource[cost.queue]] = 0.0
                self._ready[cost.queue], self._heads[cost.queue] = [], deque()
            self._heads[cost.queue].append(number)
        self._table: str | None = None
        """The table that the Scalar Engine holds."""
        sbuf, psum = stretch.capacity
        self._room = room * sbuf, psum
        # What is loaded ahead must not keep others from the room for their results.
        self._most = (room + RESULTS) * sbuf, psum
        self._used = list(stretch.used)
        self._left = list(stretch.users)
        self._begun = bytearray(len(stretch.users))
        self._freed = 0
        """How many tiles have come out of use."""
        self._stuck: dict[Queue, tuple[int, int]] = {}
        """Queues whose ready instructions find no room, with how many there were, and `_freed`."""
        self._events: list[tuple[float, int]] = []

    @property
    def busiest(self) -> float:
        """How long the queue, or the DMA engines, have to do that has most to do."""
        busy: dict[object, float] = {}
        for cost in self._stretch.costs:
            resource = self._resource[cost.queue]
            busy[resource] = busy.get(resource, 0.0) + cost.issue
        return max(busy.values())

    def run(self) -> bool:
        """Run to the end; False when there is no room to go on."""
        missing = [len(before) for before in self._stretch.before]
        after, costs, priorities = self._stretch.after, self._stretch.costs, self._priorities
        for number, count in enumerate(missing):
            if not count:
                heappush(self._ready[costs[number].queue], (priorities[number], number))
        queues = [(q, ready, self._resource[q]) for q, ready in self._ready.items()]
        free, events = self._free, self._events
        now = 0.0
        while len(self.order) < len(missing):
            for queue, ready, resource in queues:
                while ready and free[resource] <= now and self._begin(queue, ready, now):
                    pass
            if not events and not self._force(now):
                return False
            now, ended = heappop(events)
            if ended < 0:
                continue  # a queue is free
            self._end(ended)
            for other in after[ended]:
                missing[other] -= 1
                if not missing[other]:
                    heappush(self._ready[costs[other].queue], (priorities[other], other))
        return True

    def _force(self, now: float) -> bool:
        """Begin what stands first in the program, if that is what goes first and memory holds it.

        Later ones have taken the room; there is more of it than tiles are to take.
        """
        if self._priorities is not self._stretch.places:
            return False
        ready = min((ready for ready in self._ready.values() if ready), key=itemgetter(0))
        self._start(heappop(ready)[1], now)
        return all(u <= c for u, c in zip(self._used, self._stretch.capacity, strict=True))

    def _begin(self, queue: Queue, ready: list[tuple[float, int]], now: float) -> bool:
        """Begin the best instruction of a queue for which there is room; False if there is none.

        One that needs another table has to be better by more than loading it takes.
        """
        if self._in_order:
            if ready[0][1] != self._heads[queue][0]:
                return False
            self._heads[queue].popleft()
            self._start(heappop(ready)[1], now)
            return True
        # What others have begun since leaves no more room than there was.
        if self._stuck.get(queue) == (self._freed, len(ready)):
            return False
        has_tables = queue is Queue.scalar and self._table is not None
        seen: list[tuple[float, int]] = []
        found: tuple[float, int] | None = None
        best = inf
        while ready and len(seen) < _LOOKED_AT:
            entry = heappop(ready)
            seen.append(entry)
            late = entry[0] + self._table_ns(entry[1]) if has_tables else entry[0]
            if late < best and self._fits(entry[1]):
                best, found = late, entry
                if not has_tables:
                    break
        for entry in seen:
            if entry is not found:
                heappush(ready, entry)
        if found is None:
            self._stuck[queue] = self._freed, len(ready)
            return False
        self._start(found[1], now)
        return True

    def _table_ns(self, number: int) -> float:
        """What loading the table takes that an instruction needs."""
        table = self._stretch.costs[number].table
        known = table is None or table == self._table
        return 0.0 if known else self._stretch.target.timing.scalar.table_load_ns

    def _fits(self, number: int) -> bool:
        sizes, begun, used = self._stretch.sizes, self._begun, self._used
        sbuf = psum = 0.0
        for tile in self._stretch.new[number]:
            if not begun[tile]:
                memory, size = sizes[tile]
                if memory:
                    psum += size
                else:
                    sbuf += size
        room = self._room if self._stretch.moves[number] else self._most
        return (not sbuf or used[0] + sbuf <= room[0]) and (not psum or used[1] + psum <= room[1])

    def _start(self, number: int, now: float) -> None:
        stretch = self._stretch
        cost = stretch.costs[number]
        for tile in stretch.new[number]:
            if not self._begun[tile]:
                self._begun[tile] = 1
                memory, size = stretch.sizes[tile]
                self._used[memory] += size
        now += self._table_ns(number)
        self._table = cost.table or self._table
        self._free[self._resource[cost.queue]] = now + cost.issue
        self.order.append(number)
        self.end = max(self.end, now + cost.latency)
        heappush(self._events, (now + cost.issue, -1))
        heappush(self._events, (now + cost.latency, number))

    def _end(self, number: int) -> None:
        stretch = self._stretch
        for tile in stretch.new[number]:
            self._left[tile] -= 1
            if not self._left[tile]:
                memory, size = stretch.sizes[tile]
                self._used[memory] -= size
                self._freed += 1
