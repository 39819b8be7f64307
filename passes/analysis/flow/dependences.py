"""Memory dependences: for each operation, the earlier operations that it must wait for.

A true dependence reads the result of the earlier operation, an anti dependence overwrites its
operand, an output dependence overwrites its result. Bytes are exact where addresses are known
(`footprints.py`). An address known only at run time counts as every address that its index can
select.

Operations of one queue run in order. So for each other queue, an operation lists only the last
operation that it depends on. Registers and accumulators are not memory.
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
from nkijit.dialects.nki.views import base_of, leaves_its_tensor, reach_of, used_of
from nkijit.dialects.tiles import info_of
from nkijit.dialects.tuples import made
from nkijit.dialects.walks import directly_in
from nkijit.passes.analysis.bytes.footprints import FewCells, Footprint, cut, extent_of

Events = npt.NDArray[np.int64]
NO_EVENT = -1


class Dependence(NamedTuple):
    """A dependence on an earlier event."""

    before: int
    """The number of the earlier event that must end first."""
    kind: DependenceKind
    value: SSAValue
    """The tile of the later operation that causes the dependence."""


class Execution(NamedTuple):
    """An execution of an operation.

    An operation inside a loop has two executions: in the first iteration and in the next one.
    """

    number: int
    op: Operation
    queue: int
    dependences: Sequence[Dependence]
    effects: Sequence[Effect]
    sources: Collection[int]
    """The numbers of all events, in any queue, that wrote data which the operation reads."""


_STORES = len(engine)
_PRINTS = len(engine) + 1
QUEUES = len(engine) + 2
"""The number of queues: one per member of `engine`, one for DMAs to HBM, and one for prints."""


def queue_of(op: Operation, target: Target) -> int | None:
    """Return the queue in which an operation runs; None for operations that do not run.

    Each engine has one queue, and DMAs to HBM have a separate one. Hardware has many DMA rings. A
    single queue per direction ignores dependences among the DMAs of one direction, and lets loads
    overtake stores; both match most schedules.
    """
    if not is_instruction(op):
        return _PRINTS if isinstance(op, DevicePrintOp) else None
    runs_on = engine_of(op, target)
    if runs_on is not engine.dma:
        return runs_on.value
    written = next((value for value, role in reads_and_writes(op) if role is not Role.read), None)
    return _STORES if written is not None and not info_of(written).region.on_chip else runs_on.value


def share_bytes(one: Operation, two: Operation) -> bool:
    """Whether two operations access the same bytes, and at least one operation writes them."""
    return any(
        base_of(a) is base_of(b) and info_of(a).overlaps(info_of(b))
        for a, role_a in reads_and_writes(one)
        for b, role_b in reads_and_writes(two)
        if Role.read is not role_a or Role.read is not role_b
    )


def _has_no_choice(op: NisaOp) -> bool:
    return len(op.SPEC.engines) == 1 and op.SPEC.engines[0] is not engine.dma


class Dependences:
    """The dependences of one core's program, computed when first used."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.target = kernel.target

    @cached_property
    def events(self) -> list[Execution]:
        """All events in program order, with their dependences."""
        return list(_Walk(self.target).walk(self.kernel.body.block))


class _Part(Protocol):
    """The most recent accesses to the bytes that one tile of a tensor covers."""

    def writers(self) -> Collection[int]:
        """Return the most recent writers of the bytes; `NO_EVENT` for bytes without a writer."""
        ...

    def readers(self) -> Collection[int]:
        """Return the most recent readers of the bytes in each queue."""
        ...

    def read(self, queue: int, event: int) -> None: ...

    def write(self, event: int) -> None: ...


@final
class _Whole:
    """The accesses to a tensor whose tiles all cover the whole tensor, which is the common case."""

    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer = NO_EVENT
        """The last event that wrote the tensor."""
        self.readers: dict[int, int] = {}
        """The last event of each queue that read the tensor."""


class _Few:
    """The accesses to each cell of a tensor with few cells: lists are faster than short arrays."""

    def __init__(self, count: int):
        self.count = count
        self.writers = [NO_EVENT] * count
        self.readers: dict[int, list[int]] = {}


class _OfFew:
    """The cells that one tile covers, of a tensor with few cells (`_Few`)."""

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
            events = tensor.readers[queue] = [NO_EVENT] * tensor.count
        for cell in self._cells:
            events[cell] = event

    def write(self, event: int) -> None:
        writers = self._tensor.writers
        for cell in self._cells:
            writers[cell] = event


class _Many:
    """The accesses to each cell of a tensor with many cells, in arrays."""

    def __init__(self, count: int):
        self.count = count
        self.writers = np.full(count, NO_EVENT)
        self.readers: dict[int, Events] = {}


class _OfMany:
    """The cells that one tile covers, of a tensor with many cells (`_Many`)."""

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
            events = tensor.readers[queue] = np.full(tensor.count, NO_EVENT)
        self._footprint.part(events)[...] = event

    def write(self, event: int) -> None:
        self._footprint.part(self._tensor.writers)[...] = event


class _FewCells(NamedTuple):
    """The cells of a tensor's tiles; with `None`, each tile counts as the whole tensor."""

    cells: Sequence[list[int]] | None
    """The cells of each tile."""
    total: int
    """The number of the tensor's cells."""
    exact: bool
    """See `TrackedTile.exact`."""


class _Tensors:
    """Tracked tensors. Tensors whose tiles have the same types share the computation of cells."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], _FewCells] = {}
        """Cells of tensors by the `id` of the tensor's type and of each tile's type."""

    def tiles_of(self, base: SSAValue) -> list[TrackedTile]:
        """Return the tiles of a tensor, without accesses."""
        used = used_of(base)
        if len(used) == 1:
            return [TrackedTile(used[0], _Whole(), not leaves_its_tensor(used[0]))]
        # The extent of an indirect view depends on more than its type: such tensors are not cached.
        direct = all([info_of(value).indirection is None for value in used])
        key = (id(base.type), *[id(value.type) for value in used]) if direct else ()
        if key in self._known:
            found = self._known[key]
        else:
            found = _cut(base, used)
            if isinstance(found, list):
                exact = not reach_of(base).extended
                return [
                    TrackedTile(value, part, exact) for value, part in zip(used, found, strict=True)
                ]
            if direct:
                self._known[key] = found
        cells, total, exact = found
        if cells is None:
            whole = _Whole()
            return [TrackedTile(value, whole, exact) for value in used]
        few = _Few(total)
        return [
            TrackedTile(value, _OfFew(few, own), exact)
            for value, own in zip(used, cells, strict=True)
        ]


def _cut(base: SSAValue, used: Sequence[SSAValue]) -> _FewCells | list[_OfMany]:
    """Return the cells that each tile of a tensor covers: `_FewCells`, or an `_OfMany` per tile."""
    reach = reach_of(base)
    extents = [extent_of(value, reach) for value in used]
    if len(set(extents)) == 1:
        return _FewCells(None, 0, not reach.extended)
    cells = cut(reach, extents)
    if isinstance(cells, FewCells):
        numbers = [cells.numbers[extent] for extent in extents]
        return _FewCells(numbers, cells.count, not reach.extended)
    if not cells.exact:
        return _FewCells(None, 0, exact=False)
    many = _Many(cells.count)
    parts = {extent: _OfMany(many, cells.footprint(extent)) for extent in set(extents)}
    return [parts[extent] for extent in extents]


class TrackedTile:
    """A tile, with the most recent accesses to its bytes."""

    __slots__ = ("exact", "known", "of", "value")

    def __init__(self, value: SSAValue, of: _Whole | _Part, exact: bool):
        self.value = value
        self.of = of
        """The accesses to the whole tensor, or to the bytes that the tile covers."""
        self.known = info_of(value).indirection is None
        """Whether the tile's address is known before run time."""
        self.exact = exact and self.known
        """Whether `of` has exactly the tile's bytes, all of them in its tensor."""

    def writers(self) -> Collection[int]:
        """The tile's most recent writers; `NO_EVENT` for bytes without a writer."""
        of = self.of
        return (of.writer,) if type(of) is _Whole else of.writers()

    def write(self, event: int) -> None:
        """Record a writer."""
        of = self.of
        if type(of) is _Whole:
            of.writer = event
        else:
            of.write(event)

    def oldest_writer(self) -> int:
        """Return the first of the tile's most recent writers.

        `NO_EVENT` if a byte of the tile has no writer.
        """
        of = self.of
        return of.writer if type(of) is _Whole else min(of.writers())


class Accesses:
    """The most recent accesses to every tensor of a program, from which dependences follow."""

    def __init__(self, reordered: Collection[int] = ()) -> None:
        """Start without accesses.

        `reordered`: the queues in which writes to unread tensors may be reordered.
        """
        self._reordered = reordered
        self._tensors = _Tensors()
        self.queues: list[int] = []
        """The queue of each event."""
        self.blocks: list[int] = []
        """The block number of each event; see `add`."""
        self.tiles: dict[int, TrackedTile] = {}
        """The tracked tiles by the `id` of their value, because hashing a value costs a call."""

    def track(self, value: SSAValue) -> TrackedTile:
        """Return the tracked tile of a value, and add all tiles of its tensor to `tiles`."""
        for tile in self.tiles_of(base_of(value)):
            self.tiles[id(tile.value)] = tile
        return self.tiles[id(value)]

    def tiles_of(self, base: SSAValue) -> list[TrackedTile]:
        """Return the tiles of a tensor. Call this once, before its first access."""
        return self._tensors.tiles_of(base)

    def add(
        self,
        queue: int,
        touched: Sequence[tuple[TrackedTile, Role, bool]],
        ordered: int,
        block: int = 0,
        sources: set[int] | None = None,
    ) -> Sequence[Dependence]:
        """Append an event and return its dependences, except those on events of queue `ordered`.

        Args:
            queue: the queue of the event.
            touched: the event's effects: (tile, role, whether it covers only a part of the tile).
            ordered: the queue whose earlier events have certainly ended when this one starts.
            block: the number of the innermost loop around the event that may run zero times. A
                dependence on an event of such a loop is listed in addition to the dependence on an
                earlier event of the same queue, because the loop may not run.
            sources: gets the events whose results the event reads.
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
            # A partial write keeps some of the earlier contents, so it depends on their writer.
            overwrites = role is Role.write and tile.known and not partial
            kind = DependenceKind.output if overwrites else DependenceKind.true
            if type(of) is not _Whole:
                self._wait_for_part(found, tile, of, role, kind, ordered, sources)
                continue
            before = of.writer
            if before != NO_EVENT and queues[before] != ordered:
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
        """Append the dependences of an access to a part of a tensor.

        `kind` is the kind of dependence on earlier writes: true for a read, output for a write.
        """
        writers = part.writers()
        if sources is not None and kind is DependenceKind.true:
            sources.update(writers)
        # A write replaces the writers that it waits for, so listing all of them stays cheap.
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
        """Append dependences on earlier events; an event is one execution of an operation.

        `events` are the numbers of the earlier events. For each queue and block, a dependence on
        the last of these events is appended. For the queues in `every`, a dependence on each of
        these events is appended.
        """
        queues, blocks = self.queues, self.blocks
        if len(events) == 1:  # the common case
            (before,) = events
            if before != NO_EVENT and queues[before] != ordered:
                found.append(made(Dependence, (before, kind, value)))
            return
        others = [e for e in events if e != NO_EVENT and queues[e] != ordered]
        if len(others) > 1:
            last: dict[tuple[int, int], int] = {}
            for before in others:
                key = queues[before], before if queues[before] in every else blocks[before]
                last[key] = max(before, last.get(key, NO_EVENT))
            others = list(last.values())
        for before in others:
            found.append(made(Dependence, (before, kind, value)))  # noqa: PERF401


class _Walk:
    def __init__(self, target: Target):
        self._target = target
        self._accesses = Accesses()
        self._fixed: dict[type[Operation], int] = {}

    def walk(self, block: Block, again: bool = False) -> Iterator[Execution]:
        """Yield the events of a block; `again` is True in the second walk of a loop around it."""
        for op in directly_in(block):
            queue = self._queue(op)
            if queue is not None:
                yield self._event(op, queue)
            elif op.regions:
                # The second walk finds dependences on the previous iteration. One second walk
                # covers all the loops around: one per loop would double the work at every level.
                is_loop = isinstance(op, (ForOp, WhileOp))
                for second in (False, True) if is_loop and not again else (again,):
                    for region in op.regions:
                        yield from self.walk(region.block, second)

    def _queue(self, op: Operation) -> int | None:
        """Return `queue_of`, cached by class for instructions that run on a single engine."""
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
        tiles = accesses.tiles
        touched = [
            (tiles.get(id(value)) or accesses.track(value), role, partial)
            for _, value, role, partial in done
        ]
        found = accesses.add(queue, touched, queue, sources=sources)
        return Execution(number, op, queue, found, done, sources)
