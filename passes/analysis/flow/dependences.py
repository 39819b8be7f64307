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
from typing import NamedTuple, Protocol, final

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
from nkijit.dialects.nki.views import base_of, reach_of, used_of
from nkijit.dialects.tiles import info_of
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.bytes.footprints import FewCells, Footprint, cut, extent_of

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


class _Part(Protocol):
    """The last events that have touched what a tile touches of its tensor."""

    def writers(self) -> Collection[int]:
        """The events that have written it, last; NOBODY where none has."""
        ...

    def readers(self) -> Collection[int]:
        """The last events of each queue that have read it."""
        ...

    def read(self, queue: int, event: int) -> None:
        """Note that an event reads it."""
        ...

    def write(self, event: int) -> None:
        """Note that an event writes it."""
        ...


@final
class _Whole:
    """A tensor that all its tiles touch as a whole, as of most: what an event needs to know of it
    is at hand."""

    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer = NOBODY
        """The last event that has written it."""
        self.readers: dict[int, int] = {}
        """The last event of each queue that has read it."""


class _Few:
    """A tensor of few cells: lists are faster."""

    def __init__(self, count: int):
        self.count = count
        self.writers = [NOBODY] * count
        self.readers: dict[int, list[int]] = {}


class _OfFew:
    """Some of the few cells of a tensor."""

    __slots__ = ("_cells", "_tensor")

    def __init__(self, tensor: _Few, cells: list[int]):
        self._tensor = tensor
        self._cells = cells

    def writers(self) -> Collection[int]:
        writers = self._tensor.writers
        return {writers[cell] for cell in self._cells}

    def readers(self) -> Collection[int]:
        cells = self._cells
        return {events[cell] for events in self._tensor.readers.values() for cell in cells}

    def read(self, queue: int, event: int) -> None:
        tensor = self._tensor
        events = tensor.readers.get(queue)
        if events is None:
            events = tensor.readers[queue] = [NOBODY] * tensor.count
        for cell in self._cells:
            events[cell] = event

    def write(self, event: int) -> None:
        writers = self._tensor.writers
        for cell in self._cells:
            writers[cell] = event


class _Many:
    """A tensor of many cells: arrays."""

    def __init__(self, count: int):
        self.count = count
        self.writers = np.full(count, NOBODY)
        self.readers: dict[int, Events] = {}


class _OfMany:
    """Some of the many cells of a tensor."""

    __slots__ = ("_footprint", "_tensor")

    def __init__(self, tensor: _Many, footprint: Footprint):
        self._tensor = tensor
        self._footprint = footprint

    def writers(self) -> Collection[int]:
        return np.unique(self._footprint.part(self._tensor.writers)).tolist()

    def readers(self) -> Collection[int]:
        part = self._footprint.part
        last = [np.unique(part(events)) for events in self._tensor.readers.values()]
        return np.concatenate(last).tolist() if last else ()

    def read(self, queue: int, event: int) -> None:
        tensor = self._tensor
        events = tensor.readers.get(queue)
        if events is None:
            events = tensor.readers[queue] = np.full(tensor.count, NOBODY)
        self._footprint.part(events)[...] = event

    def write(self, event: int) -> None:
        self._footprint.part(self._tensor.writers)[...] = event


_FewCells = tuple[Sequence[list[int]], int]
"""The cells of each tile of a tensor, and how many the tensor has."""


class _Tensors:
    """The tensors of one program: those whose tiles have the same types are cut alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], _FewCells | None] = {}
        """By the identities of the types of a tensor and its tiles; None where all tiles touch the
        whole."""

    def tiles_of(self, base: SSAValue) -> list[TrackedTile]:
        """The tiles of a tensor that has not been touched yet."""
        used = used_of(base)
        if len(used) == 1:
            return [TrackedTile(used[0], _Whole())]
        # An index counts by the view, not by its type; such a tensor is not known.
        alike = all([info_of(value).indirection is None for value in used])
        key = (id(base.type), *[id(value.type) for value in used]) if alike else ()
        if key in self._known:
            found = self._known[key]
        else:
            found = _cut(base, used)
            if isinstance(found, list):
                return list(map(TrackedTile, used, found))
            if alike:
                self._known[key] = found
        if found is None:
            whole = _Whole()
            return [TrackedTile(value, whole) for value in used]
        cells, count = found
        few = _Few(count)
        return [
            TrackedTile(value, _OfFew(few, own)) for value, own in zip(used, cells, strict=True)
        ]


def _cut(base: SSAValue, used: Sequence[SSAValue]) -> _FewCells | list[_OfMany] | None:
    """The cells of a tensor's tiles: a few, many, or None if each of them touches the whole."""
    reach = reach_of(base)
    extents = [extent_of(value, reach) for value in used]
    if len(set(extents)) == 1:
        return None
    cells = cut(reach, extents)
    if isinstance(cells, FewCells):
        return [cells.numbers[extent] for extent in extents], cells.count
    if not cells.exact:
        return None
    many = _Many(cells.count)
    parts = {extent: _OfMany(many, cells.footprint(extent)) for extent in set(extents)}
    return [parts[extent] for extent in extents]


class TrackedTile:
    """A tile that operations touch."""

    __slots__ = ("known", "of", "value")

    def __init__(self, value: SSAValue, of: _Whole | _Part):
        self.value = value
        self.of = of
        """The tensor, or its part of it."""
        self.known = info_of(value).indirection is None
        """Whether its address is."""

    def oldest_writer(self) -> int:
        """The first of the events that have written it last; NOBODY where something has not been
        written."""
        of = self.of
        return of.writer if type(of) is _Whole else min(of.writers())


class Accesses:
    """The last accesses to every tensor of a program: what the next operation waits for."""

    def __init__(self, reordered: Collection[int] = ()) -> None:
        """`reordered`: queues in which writes to a tensor that nothing reads may change places."""
        self._reordered = reordered
        self._tensors = _Tensors()
        self.queues: list[int] = []
        """The queue of each event."""
        self.blocks: list[int] = []
        """The block that each event is directly in: a loop, or the program."""

    def tiles_of(self, base: SSAValue) -> list[TrackedTile]:
        """What is known of the tiles of a tensor; asked for once, before the tensor is touched."""
        return self._tensors.tiles_of(base)

    def add(
        self,
        queue: int,
        touched: Sequence[tuple[TrackedTile, Role, bool]],
        ordered: int,
        block: int = 0,
        sources: set[int] | None = None,
    ) -> Sequence[Dependence]:
        """Note the next event; returns what it waits for, without events of `ordered`.

        Args:
            queue: the queue that runs it.
            touched: its effects: tiles, what it does with them, and whether with a part only.
            ordered: the queue whose earlier events have ended anyway when it begins.
            block: a number for the innermost loop around it that may not run. An event before
                such a loop is returned beside a later one of its queue in the loop, so that an
                operation after the loop has waited for it where the loop did not run.
            sources: gets the events whose results it reads.
        """
        queues = self.queues
        number = len(queues)
        queues.append(queue)
        self.blocks.append(block)
        if not touched:
            return ()
        found: list[Dependence] = []
        for tile, role, partial in touched:
            of = tile.of
            # What is left as it was of a tile that is written in part was written before.
            overwrites = role is Role.write and tile.known and not partial
            kind = DependenceKind.output if overwrites else DependenceKind.true
            if type(of) is not _Whole:
                self._wait_for_part(found, tile, of, role, kind, ordered, sources)
                continue
            before = of.writer
            if before != NOBODY and queues[before] != ordered:
                found.append(made(Dependence, (before, kind, tile.value)))
            if not overwrites and sources is not None:
                sources.add(before)
            if role is not Role.read:
                for other, before in of.readers.items():
                    if other != ordered:
                        found.append(made(Dependence, (before, DependenceKind.anti, tile.value)))
        for tile, role, _ in touched:
            of = tile.of
            if type(of) is not _Whole:
                if role is Role.read:
                    of.read(queue, number)
                else:
                    of.write(number)
            elif role is Role.read:
                of.readers[queue] = number
            else:
                of.writer = number
        return found

    def _wait_for_part(
        self,
        found: list[Dependence],
        tile: TrackedTile,
        part: _Part,
        role: Role,
        kind: DependenceKind,
        ordered: int,
        sources: set[int] | None,
    ) -> None:
        """Note what an effect on a part of a tensor waits for; `kind`: for what has written it."""
        writers = part.writers()
        if sources is not None and kind is DependenceKind.true:
            sources.update(writers)
        # A writer takes the place of those that it waits for: all of them are few.
        every = self._reordered if role is not Role.read else ()
        self._wait(found, ordered, kind, tile.value, writers, every)
        if role is not Role.read:
            readers = part.readers()
            if readers:
                self._wait(found, ordered, DependenceKind.anti, tile.value, readers, ())

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


class _Walk:
    def __init__(self, target: Target):
        self._target = target
        self._accesses = Accesses()
        # By identity, as hashing a value is a call.
        self._tiles: dict[int, TrackedTile] = {}
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
        accesses, done = self._accesses, effects(op)
        number, sources = len(accesses.queues), set[int]()
        tiles = self._tiles
        touched = [
            (tiles.get(id(value)) or self._tile(value), role, partial)
            for _, value, role, partial in done
        ]
        found = accesses.add(queue, touched, queue, sources=sources)
        return Execution(number, op, queue, found, done, sources)

    def _tile(self, value: SSAValue) -> TrackedTile:
        for tile in self._accesses.tiles_of(base_of(value)):
            self._tiles[id(tile.value)] = tile
        return self._tiles[id(value)]
