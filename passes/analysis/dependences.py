"""Which earlier operations an operation has to wait for because of the memory that they touch.

True: it reads what the other wrote. Anti: it overwrites what the other reads. Output: it
overwrites what the other wrote. Bytes are told apart exactly where addresses are known
(`footprints.py`), and an address known at run time only may be any that its index can select.

Operations of one queue run in their order, so of several operations of a queue only the last one
is named, and none of the operation's own queue. Registers and accumulators are no memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.effects import DependenceKind, Effect, effects, reads_and_writes
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp
from nkijit.dialects.nki.views import base_of, index_of, reach_of, used_of
from nkijit.dialects.tiles import info_of
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.footprints import FewCells, Footprint, cut, extent_of

Events = npt.NDArray[np.int64]
NOBODY = -1


class Dependence(NamedTuple):
    """An earlier event that an event waits for."""

    before: int
    """The number of the earlier event."""
    kind: DependenceKind
    value: SSAValue
    """The tile of the later operation."""


class Execution(NamedTuple):
    """An operation that runs. One in a loop is two events: its first iteration and the next."""

    number: int
    op: Operation
    queue: int
    dependences: Sequence[Dependence]
    effects: Sequence[Effect]
    sources: Collection[int]
    """The numbers of all events whose results it reads, or writes on top of; of its own queue,
    too."""


_STORES = len(engine)
_PRINTS = len(engine) + 1
QUEUES = len(engine) + 2
"""How many queues there are."""


def queue_of(op: Operation, target: Target) -> int | None:
    """The queue that runs an operation in order with its other ones; None for what does not run.

    One for each engine; DMAs to HBM have one of their own. There are many rings in truth: that the
    DMAs of one direction keep their order leaves out dependences among them, and that loads do
    not wait for stores is what most schedules look like.
    """
    if not is_instruction(op):
        return _PRINTS if isinstance(op, DevicePrintOp) else None
    runs_on = engine_of(op, target)
    if runs_on is not engine.dma:
        return runs_on.value
    written = next((value for value, role in reads_and_writes(op) if role is not Role.read), None)
    return _STORES if written is not None and not info_of(written).region.on_chip else runs_on.value


def share_bytes(one: Operation, two: Operation) -> bool:
    """True when two operations touch the same bytes and one of them writes there."""
    return any(
        base_of(a) is base_of(b) and info_of(a).overlaps(info_of(b))
        for a, role_a in reads_and_writes(one)
        for b, role_b in reads_and_writes(two)
        if Role.read is not role_a or Role.read is not role_b
    )


def _has_no_choice(op: NisaOp) -> bool:
    return len(op.SPEC.engines) == 1 and op.SPEC.engines[0] is not engine.dma


class Dependences:
    """The dependences of one core's program, found when they are first asked for."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.target = kernel.target

    @cached_property
    def events(self) -> list[Execution]:
        """The operations that run, in program order, with what they wait for."""
        return list(_Walk(self.target).walk(self.kernel.body.block))


class _LastAccesses(Protocol):
    """The last events that have touched a tensor, for each of its cells."""

    def writers(self, value: SSAValue) -> Collection[int]:
        """The events that have written what a tile touches, last."""
        ...

    def readers(self, value: SSAValue) -> Collection[int]:
        """The last events of each queue that have read what a tile touches."""
        ...

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        """Note that an event reads a tile."""
        ...

    def write(self, value: SSAValue, event: int) -> None:
        """Note that an event writes a tile."""
        ...


class _Many:
    """A tensor of many cells: arrays."""

    def __init__(self, footprints: dict[int, Footprint], count: int):
        """`footprints` of its tiles, by the identity of their values."""
        self._count = count
        self._footprints = footprints
        self._writers = np.full(count, NOBODY)
        self._readers: dict[int, Events] = {}

    def writers(self, value: SSAValue) -> Collection[int]:
        return np.unique(self._footprints[id(value)].part(self._writers)).tolist()

    def readers(self, value: SSAValue) -> Collection[int]:
        footprint = self._footprints[id(value)]
        last = [np.unique(footprint.part(events)) for events in self._readers.values()]
        return np.concatenate(last).tolist() if last else ()

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        events = self._readers.get(queue)
        if events is None:
            events = self._readers[queue] = np.full(self._count, NOBODY)
        self._footprints[id(value)].part(events)[...] = event

    def write(self, value: SSAValue, event: int) -> None:
        self._footprints[id(value)].part(self._writers)[...] = event


class _One:
    """A tensor that all its tiles touch as a whole."""

    def __init__(self) -> None:
        self._writer: tuple[int, ...] = (NOBODY,)
        self._readers: dict[int, int] = {}

    def writers(self, value: SSAValue) -> Collection[int]:
        return self._writer

    def readers(self, value: SSAValue) -> Collection[int]:
        return self._readers.values()

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        self._readers[queue] = event

    def write(self, value: SSAValue, event: int) -> None:
        self._writer = (event,)


class _Few:
    """A tensor of few cells: lists are faster."""

    def __init__(self, cells: dict[int, list[int]], count: int):
        """`cells` of its tiles, by the identity of their values."""
        self._cells = cells
        self._count = count
        self._writers = [NOBODY] * count
        self._readers: dict[int, list[int]] = {}

    def writers(self, value: SSAValue) -> Collection[int]:
        writers = self._writers
        return {writers[cell] for cell in self._cells[id(value)]}

    def readers(self, value: SSAValue) -> Collection[int]:
        cells = self._cells[id(value)]
        return {events[cell] for events in self._readers.values() for cell in cells}

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        events = self._readers.get(queue)
        if events is None:
            events = self._readers[queue] = [NOBODY] * self._count
        for cell in self._cells[id(value)]:
            events[cell] = event

    def write(self, value: SSAValue, event: int) -> None:
        for cell in self._cells[id(value)]:
            self._writers[cell] = event


class _Tensors:
    """The tensors of one program: those whose tiles have the same types are cut alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Sequence[list[int]], int] | None] = {}
        """The cells of each tile and how many there are, by the identities of the types of a
        tensor and its tiles; None where all tiles touch the whole."""

    def of(self, base: SSAValue) -> _LastAccesses:
        """The last accesses to a tensor that has none yet."""
        used = used_of(base)
        if len(used) == 1:
            return _One()
        # An index counts by the view, not by its type; such a tensor is not known.
        alike = all(info_of(value).indirection is None for value in used)
        key = (id(base.type), *[id(value.type) for value in used]) if alike else ()
        if key not in self._known:
            found = _cut(base, used)
            if alike and not isinstance(found, _Many):
                self._known[key] = found
        else:
            found = self._known[key]
        if found is None:
            return _One()
        if isinstance(found, _Many):
            return found
        cells, count = found
        return _Few({id(value): own for value, own in zip(used, cells, strict=True)}, count)


def _cut(base: SSAValue, used: Sequence[SSAValue]) -> tuple[list[list[int]], int] | _Many | None:
    """The cells of a tensor's tiles: a few, many, or None if each of them touches the whole."""
    reach = reach_of(base)
    extents = [extent_of(value, reach) for value in used]
    distinct = set(extents)
    if len(distinct) == 1:
        return None
    cells = cut(reach, extents)
    if isinstance(cells, FewCells):
        return [cells.numbers[extent] for extent in extents], cells.count
    if not cells.exact:
        return None
    footprints = {extent: cells.footprint(extent) for extent in distinct}
    parts = {id(value): footprints[e] for value, e in zip(used, extents, strict=True)}
    return _Many(parts, cells.count)


class Accesses:
    """The last accesses to every tensor of a program: what the next operation waits for."""

    def __init__(self, reordered: Collection[int] = ()) -> None:
        """`reordered`: queues in which writes to a tensor that nothing reads may change places."""
        self._reordered = reordered
        # By identity, as hashing a value is a call.
        self._tensors: dict[int, _LastAccesses] = {}
        self._kinds = _Tensors()
        self._tiles: dict[int, tuple[_LastAccesses, bool]] = {}
        """The tensor that a tile is of, and whether its address is known."""
        self.queues: list[int] = []
        """The queue of each event."""
        self.blocks: list[int] = []
        """The block that each event is directly in: a loop, or the program."""

    def add(
        self, queue: int, done: Sequence[Effect], ordered: int, block: int = 0
    ) -> tuple[list[Dependence], set[int]]:
        """Note the next event with its effects.

        Args:
            queue: the queue that runs it.
            done: its effects.
            ordered: the queue whose earlier events have ended anyway when it begins.
            block: a number for the innermost loop around it that may not run. An event before
                such a loop is returned beside a later one of its queue in the loop, so that an
                operation after the loop has waited for it where the loop did not run.

        Returns what it waits for, without events of `ordered`, and the events whose results it
        reads.
        """
        number = len(self.queues)
        self.queues.append(queue)
        self.blocks.append(block)
        found: list[Dependence] = []
        sources: set[int] = set()
        if not done:
            return found, sources
        touched: list[tuple[SSAValue, Role, _LastAccesses]] = []
        for _, value, role, partial in done:
            tensor, known = self._tiles.get(id(value)) or self._tile(value)
            touched.append((value, role, tensor))
            writers = tensor.writers(value)
            # What is left as it was of a tile that is written in part was written before.
            if role is Role.write and known and not partial:
                kind = DependenceKind.output
            else:
                sources.update(writers)
                kind = DependenceKind.true
            # A writer takes the place of those that it waits for: all of them are few.
            every = self._reordered if role is not Role.read else ()
            self._wait(found, ordered, kind, value, writers, every)
            if role is not Role.read:
                self._wait(found, ordered, DependenceKind.anti, value, tensor.readers(value), ())
        for value, role, tensor in touched:
            if role is Role.read:
                tensor.read(value, queue, number)
            else:
                tensor.write(value, number)
        return found, sources

    def writers(self, value: SSAValue) -> Collection[int]:
        """The last events that have written what a tile touches; NOBODY where none has."""
        tensor, _ = self._tiles.get(id(value)) or self._tile(value)
        return tensor.writers(value)

    def _wait(
        self,
        found: list[Dependence],
        ordered: int,
        kind: DependenceKind,
        value: SSAValue,
        events: Collection[int],
        every: Collection[int],
    ) -> None:
        """Note the last event of each other queue and block among some that touched a tile.

        Of queues that are in `every` all of them.
        """
        queues, blocks = self.queues, self.blocks
        if len(events) == 1:  # as most have
            (before,) = events
            if before != NOBODY and queues[before] != ordered:
                found.append(made(Dependence, (before, kind, value)))
            return
        others = [e for e in events if e != NOBODY and queues[e] != ordered]
        if len(others) > 1:
            last: dict[tuple[int, int], int] = {}
            for before in others:
                key = queues[before], before if queues[before] in every else blocks[before]
                last[key] = max(before, last.get(key, NOBODY))
            others = list(last.values())
        for before in others:
            found.append(made(Dependence, (before, kind, value)))  # noqa: PERF401

    def _tile(self, value: SSAValue) -> tuple[_LastAccesses, bool]:
        base = base_of(value)
        tensor = self._tensors.get(id(base))
        if tensor is None:
            tensor = self._tensors[id(base)] = self._kinds.of(base)
        tile = self._tiles[id(value)] = tensor, index_of(value) is None
        return tile


class _Walk:
    def __init__(self, target: Target):
        self._target = target
        self._accesses = Accesses()
        self._fixed: dict[type[Operation], int] = {}

    def walk(self, block: Block, again: bool = False) -> Iterator[Execution]:
        """The events of a block; `again` says that a loop around it is walked again."""
        for op in block.ops:
            queue = self._queue(op)
            if queue is not None:
                yield self._event(op, queue)
            elif op.regions:
                # What an iteration leaves, the next one meets. Once more is enough for all
                # the loops around: twice in each of them would double with every level.
                is_loop = isinstance(op, (ForOp, WhileOp))
                for second in (False, True) if is_loop and not again else (again,):
                    for region in op.regions:
                        yield from self.walk(region.block, second)

    def _queue(self, op: Operation) -> int | None:
        """`queue_of`, asked once for a class of instructions that have no choice."""
        kind = type(op)
        if kind in DECLARATIONS:
            return None
        queue = self._fixed.get(kind)
        if queue is None:
            queue = queue_of(op, self._target)
            if queue is not None and is_instruction(op) and _has_no_choice(op):
                self._fixed[kind] = queue
        return queue

    def _event(self, op: Operation, queue: int) -> Execution:
        number = len(self._accesses.queues)
        done = effects(op)
        found, sources = self._accesses.add(queue, done, queue)
        return Execution(number, op, queue, found, done, sources)
