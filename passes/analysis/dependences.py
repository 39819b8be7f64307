"""Which earlier operations an operation has to wait for because of the memory that they touch.

True: it reads what the other wrote. Anti: it overwrites what the other reads. Output: it
overwrites what the other wrote. Bytes are told apart exactly where addresses are known
(`footprints.py`), and an address known at run time only may be any that its index can select.

Operations of one queue run in their order, so of several operations of a queue only the last one
is told, and none of the operation's own queue. Registers and accumulators are no memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import is_instruction
from nkijit.dialects.effects import Effect, effects, reads_and_writes
from nkijit.dialects.fields import Role
from nkijit.dialects.hardware import Target, engine
from nkijit.dialects.nki import DevicePrintOp, KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.dialects.views import base_of, index_of, views_of
from nkijit.passes.analysis.footprints import Cells, Extent, extent_of

Events = npt.NDArray[np.int64]
NOBODY = -1
FEW = 64
"""Cells that a set finds the different events of sooner than a sort."""


class Kind(Enum):
    """Why one operation waits for another."""

    true = "true"
    anti = "anti"
    output = "output"


class Dependence(NamedTuple):
    """An earlier event that an event waits for."""

    before: int
    """The number of the earlier event."""
    kind: Kind
    value: SSAValue
    """The tile of the later operation."""


@dataclass(frozen=True, slots=True)
class Event:
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
    written = [value for value, role in reads_and_writes(op) if role is Role.write]
    return runs_on.value if any(info_of(v).region.on_chip for v in written) else _STORES


class Program:
    """One core's program, with what analyses know of it."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.target = kernel.target

    @cached_property
    def events(self) -> list[Event]:
        """The operations that run, in program order, with what they wait for."""
        return list(_Walk(self.target).walk(self.kernel.body.block))


class _Tensor:
    """The last events that have touched a tensor, for each of its cells."""

    def __init__(self, base: SSAValue):
        extents: dict[SSAValue, Extent] = {v: extent_of(v) for v in (base, *views_of(base))}
        cells = Cells(base, list(dict.fromkeys(extents.values())))
        self._count = cells.count
        footprints = {extent: cells.footprint(extent) for extent in dict.fromkeys(extents.values())}
        self._views = {value: footprints[extent] for value, extent in extents.items()}
        self._writers = np.full(cells.count, NOBODY)
        self._readers: dict[int, Events] = {}

    def writers(self, value: SSAValue) -> Collection[int]:
        """The events that have written what a tile touches, last."""
        return _different(self._views[value].part(self._writers))

    def readers(self, value: SSAValue, besides: int) -> Iterator[int]:
        """The last events of each other queue that have read what a tile touches."""
        footprint = self._views[value]
        for queue, events in self._readers.items():
            if queue != besides:
                yield from _different(footprint.part(events))

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        """Note that an event reads a tile."""
        events = self._readers.get(queue)
        if events is None:
            events = self._readers[queue] = np.full(self._count, NOBODY)
        self._views[value].part(events)[...] = event

    def write(self, value: SSAValue, event: int) -> None:
        """Note that an event writes a tile."""
        self._views[value].part(self._writers)[...] = event


class _Undivided(_Tensor):
    """A tensor that is always touched as a whole: one cell, and no arrays."""

    def __init__(self) -> None:
        self._writer = NOBODY
        self._last: dict[int, int] = {}

    def writers(self, value: SSAValue) -> Collection[int]:
        return (self._writer,)

    def readers(self, value: SSAValue, besides: int) -> Iterator[int]:
        return (event for queue, event in self._last.items() if queue != besides)

    def read(self, value: SSAValue, queue: int, event: int) -> None:
        self._last[queue] = event

    def write(self, value: SSAValue, event: int) -> None:
        self._writer = event


def _different(events: Events) -> Collection[int]:
    if events.size <= FEW:
        return set(events.ravel().tolist())
    return np.unique(events).tolist()


def _tensor(base: SSAValue) -> _Tensor:
    views = views_of(base)
    extents = {extent_of(value) for value in (*views, *([base] if _is_used(base, views) else []))}
    return _Undivided() if len(extents) <= 1 else _Tensor(base)


def _is_used(base: SSAValue, views: Collection[SSAValue]) -> bool:
    """True when operations touch the tensor itself, not only views of it."""
    return sum(1 for _ in base.uses) > len(views)


class _Walk:
    def __init__(self, target: Target):
        self._target = target
        self._tensors: dict[SSAValue, _Tensor] = {}
        self._queues: list[int] = []
        """The queue of each event."""

    def walk(self, block: Block) -> Iterator[Event]:
        for op in block.ops:
            queue = queue_of(op, self._target)
            if queue is not None:
                yield self._event(op, queue)
            elif op.regions:
                # What an iteration leaves behind, the next one meets.
                for _ in range(2 if isinstance(op, (ForOp, WhileOp)) else 1):
                    for region in op.regions:
                        yield from self.walk(region.block)

    def _event(self, op: Operation, queue: int) -> Event:
        number = len(self._queues)
        self._queues.append(queue)
        found: list[Dependence] = []
        sources: set[int] = set()
        touched: list[tuple[SSAValue, Role, _Tensor]] = []
        done = effects(op)
        for _, value, role, partial in done:
            base = base_of(value)
            tensor = self._tensors.get(base)
            if tensor is None:
                tensor = self._tensors[base] = _tensor(base)
            touched.append((value, role, tensor))
            # What is left as it was of a tile that is written in part was written before.
            replaces = role is Role.write and not partial and index_of(value) is None
            kind = Kind.output if replaces else Kind.true
            writers = tensor.writers(value)
            if kind is Kind.true:
                sources.update(writers)
            self._wait(found, queue, kind, value, writers)
            if role is not Role.read:
                self._wait(found, queue, Kind.anti, value, tensor.readers(value, queue))
        for value, role, tensor in touched:
            if role is Role.read:
                tensor.read(value, queue, number)
            else:
                tensor.write(value, number)
        return Event(number, op, queue, found, done, sources)

    def _wait(
        self,
        found: list[Dependence],
        queue: int,
        kind: Kind,
        value: SSAValue,
        events: Iterable[int],
    ) -> None:
        """Note the last event of each other queue among some that touched a tile."""
        last: dict[int, int] = {}
        for before in events:
            if before != NOBODY:
                other = self._queues[before]
                if other != queue and last.get(other, NOBODY) < before:
                    last[other] = before
        if last:
            found += [Dependence(before, kind, value) for before in last.values()]
