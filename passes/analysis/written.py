"""What of a kernel's tensors has been written when an operation reads them.

The state of a tensor is what has certainly been written and what may have been: addresses known
at run time only, loops that may not run and the other core make the difference. Views are
interned, so most questions are answered by a look-up of the view; only where a tensor is read in
other pieces than it was written in, its cells (`footprints.py`) are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import Effect, effects, registers_written
from nkijit.dialects.ncc import MEETINGS
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nki.allocation import DECLARATIONS, AllocOp
from nkijit.dialects.nki.kernel import (
    DevicePrintOp,
    KernelOp,
    NoReorderOp,
    ReturnOp,
    operations,
    shared_tensors,
)
from nkijit.dialects.nki.views import (
    ViewOp,
    access_of,
    base_of,
    index_of,
    leaves_its_tensor,
    reach_of,
    views_of,
)
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.footprints import Cells, Extent, extent_inside, extent_of
from nkijit.passes.analysis.ranges import Ranges, constant_range

Mask = npt.NDArray[np.bool_]

REPORTED_EXACTLY = 1 << 26
"""Bytes of a tensor up to which the elements that are missing are looked for one by one."""


class Verdict(Enum):
    """What is known of a tile that is read."""

    written = "written"
    """Every element has certainly been written."""
    unwritten = "unwritten"
    """Some element has certainly not been written."""
    unknown = "unknown"
    """It depends on data."""


@dataclass(frozen=True, slots=True)
class Read:
    """One tile that an operation reads."""

    op: Operation
    effect: Effect
    verdict: Verdict
    missing: Mask | None = None
    """Which elements of the tile have certainly not been written.

    None unless the verdict is `unwritten`, for tiles at an address known at run time only, and in
    tensors of more than `REPORTED_EXACTLY` bytes.
    """
    entire: bool = False
    """Nothing of it has been written."""


@dataclass(slots=True, eq=False)
class _Scope:
    """Operations that may not run: a loop's body."""

    closed: bool = False
    """The loop has ended: what was written in it may not have been."""


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """Something that was written, or may have been."""

    extent: Extent
    scope: _Scope | None
    certain: bool
    """All of the extent was written, if the scope ran."""

    @property
    def holds(self) -> bool:
        return self.certain and (self.scope is None or not self.scope.closed)


@dataclass(slots=True)
class _Marks:
    """The cells of a tensor, and what the first `done` entries have written of them."""

    cells: Cells
    must: Mask
    may: Mask
    outside: Mask | None = None
    """The cells that are not the tensor's, where there are such: nothing writes them."""
    done: int = 0
    scopes: set[_Scope] = field(default_factory=set[_Scope])
    """Where entries that are in `must` stand, as far as it may still end."""

    @staticmethod
    def of(cells: Cells, reach: Reach) -> _Marks:
        marks = _Marks(cells, np.zeros(cells.count, np.bool_), np.zeros(cells.count, np.bool_))
        if reach.extended and cells.exact:
            marks.outside = np.ones(cells.count, np.bool_)
            cells.footprint(extent_inside(reach)).part(marks.outside)[...] = False
        return marks


class WrittenTensor:
    """One allocation as one core sees it."""

    def __init__(self, core: CoreWrites, base: SSAValue):
        self.base = base
        self.seen_by: list[tuple[CoreWrites, SSAValue]] = [(core, base)]
        """The cores that use it, each with its own name for it."""
        self._reach: Reach | None = None
        self.known: dict[SSAValue, _Scope | None] = {}
        """Tiles that are certainly written, as long as the scope is open."""
        self.reported: set[SSAValue] = set()
        """Tiles that have been reported as unwritten."""
        self._entries: list[_Entry] = []
        self._possible: set[Extent] = set()
        """What may have been written."""
        self._complete: list[_Scope | None] = []
        """Scopes in which all of it was written."""
        self._marks: _Marks | None = None
        self._learnt: dict[WrittenTensor, int] = {}

    @property
    def reach(self) -> Reach:
        """Its memory, with what the views of all cores reach beyond it."""
        if self._reach is None:
            self._reach = reach_of(*(base for _, base in self.seen_by))
        return self._reach

    def knows(self, value: SSAValue) -> bool:
        """True when a look-up says that a tile is written."""
        for scope in self._complete:
            if scope is None or not scope.closed:
                return True
        scope = self.known.get(value, _CLOSED)
        return scope is None or not scope.closed

    def write(self, extent: Extent, scope: _Scope | None, certain: bool) -> None:
        """Note that an extent was written, or may have been."""
        if not certain and extent in self._possible:
            return
        self._possible.add(extent)
        self._entries.append(_Entry(extent, scope, certain))
        if certain and extent.low == 0 and extent.is_run:
            reach = self.reach
            if extent.run == reach.size and not reach.extended:
                self._complete.append(scope)

    def note(self, value: SSAValue, scope: _Scope | None) -> None:
        """A tile is certainly written, as long as the scope is open."""
        if not (self.reach.extended and leaves_its_tensor(value)):
            self.known[value] = scope

    def learn(self, other: WrittenTensor) -> None:
        """Take over what another core has certainly written of the same memory."""
        start = self._learnt.get(other, 0)
        self._learnt[other] = len(other._entries)
        for entry in other._entries[start : self._learnt[other]]:
            if entry.certain and entry.scope is None:
                self.write(entry.extent, None, True)

    def state_of(self, extent: Extent) -> tuple[Mask, Mask]:
        """What has certainly been written of the cells of an extent, and what may have been."""
        marks = self._marks
        if marks is None:
            values = [(c, v) for c, base in self.seen_by for v in (base, *views_of(base))]
            cells = Cells(self.reach, [core.extent(value) for core, value in values])
            marks = _Marks.of(cells, self.reach)
        elif any(scope.closed for scope in marks.scopes):
            marks = _Marks.of(marks.cells, self.reach)
        self._marks = marks
        if not marks.cells.exact:
            return np.zeros(1, np.bool_), np.ones(1, np.bool_)
        for entry in self._entries[marks.done :]:
            footprint = marks.cells.footprint(entry.extent)
            footprint.part(marks.may)[...] = True
            if entry.holds:
                footprint.part(marks.must)[...] = True
                if entry.scope is not None:
                    marks.scopes.add(entry.scope)
        marks.done = len(self._entries)
        if marks.outside is not None:
            marks.must[marks.outside] = marks.may[marks.outside] = False
        footprint = marks.cells.footprint(extent)
        return footprint.part(marks.must), footprint.part(marks.may)

    def missing(self, value: SSAValue) -> Mask:
        """The elements of a tile with bytes that nothing may have written."""
        touched, reach = np.zeros(self.reach.size, np.bool_), self.reach
        for entry in self._entries:
            entry.extent.part(touched)[...] = True
        for block in reach.outside(1) if reach.extended else ():
            Extent.of(block.offset, zip(block.strides, block.shape, strict=True)).part(touched)[
                ...
            ] = False
        size = info_of(value).dtype.itemsize
        access = reach.place(access_of(value), size)
        strides = (*(stride * size for stride in access.strides), 1)
        shape = (*access.shape, size)
        elements = np.ndarray(shape, np.bool_, touched, access.offset * size, strides)
        return np.asarray(~elements.all(axis=-1), np.bool_)


_CLOSED = _Scope(closed=True)


def reads_of(
    kernels: Sequence[KernelOp], *, known: bool = False, regions: bool = True
) -> Iterator[Read]:
    """The tiles that a launch reads and that may not have been written, core by core.

    Args:
        kernels: the programs of the launch, one for each core.
        known: report the reads of tiles that are certainly written, too.
        regions: say which elements are missing of what instructions read, too, not of results only.

    Loops are looked at in their first iteration, in which the least has been written. A tile that
    has been reported is taken as written from there on.
    """
    cores = [CoreWrites(kernel, known, regions) for kernel in kernels]
    _introduce(cores)
    for core in cores:
        core.look_beyond()
    meetings = min(core.meetings for core in cores)
    phases = [core.phases(meetings) for core in cores]
    for phase in zip(*phases, strict=True):
        for core in cores:
            for other, ops in zip(cores, phase, strict=True):
                if other is not core:
                    core.announce(ops, other)
        for core, ops in zip(cores, phase, strict=True):
            yield from core.walk(ops, None)
        for core in cores:
            core.meet([other for other in cores if other is not core])
    yield from cores[0].results()


def _introduce(cores: Sequence[CoreWrites]) -> None:
    """Let the cores see each other's memory."""
    for tensors in zip(*(core.shared for core in cores), strict=False):
        for tensor in tensors:
            tensor.seen_by = [viewer for other in tensors for viewer in other.seen_by[:1]]


@dataclass(slots=True)
class _Loop:
    """A loop that is being walked."""

    body: Block
    runs: bool
    """At least once."""
    together: list[tuple[WrittenTensor, SSAValue, _Scope | None]] = field(
        default_factory=list["tuple[WrittenTensor, SSAValue, _Scope | None]"]
    )
    """What all its iterations write together."""


class CoreWrites:
    """What one core has written, as far as its program has been walked.

    A subclass asks another question of the same walk: it says what counts as reading, and which
    allocations matter.
    """

    EXACT: ClassVar[bool] = True
    """Say which elements are missing."""

    def __init__(self, kernel: KernelOp, known: bool = False, regions: bool = True):
        self._known = known
        self._regions = regions
        self._kernel = kernel
        self._ranges = Ranges(kernel)
        self._tensors: dict[SSAValue, WrittenTensor] = {}
        self._extents: dict[SSAValue, Extent] = {}
        self._by_index: dict[SSAValue, list[tuple[WrittenTensor, SSAValue]]] = {}
        """Tiles that are known to be written until the number that places them changes."""
        self._loops: list[_Loop] = []
        """The loops around the operation that is being looked at, from the outside in."""
        several = kernel.core[1] > 1
        self.shared = (
            [WrittenTensor(self, base) for base in shared_tensors(kernel)[len(kernel.arguments) :]]
            if several
            else []
        )
        """The tensors in shared HBM that it allocates, in the order that all cores agree in."""
        self._tensors |= {tensor.base: tensor for tensor in self.shared}
        self.meetings = 0
        """How many there are before the first one in a loop, which may be any number."""
        for op in kernel.body.block.ops if several else ():
            if any(isinstance(inner, MEETINGS) for inner in _inside(op)):
                break
            self.meetings += isinstance(op, MEETINGS)

    def look_beyond(self) -> None:
        """Follow arguments and constants, which are written, where views leave them."""
        for op in self._kernel.operations:
            if type(op) is not ViewOp or not leaves_its_tensor(op.result):
                continue
            base = op.source
            if base not in self._tensors and type(base.owner) is not AllocOp:
                tensor = self._tensors[base] = WrittenTensor(self, base)
                tensor.write(extent_inside(tensor.reach), None, True)

    def phases(self, meetings: int) -> list[list[Operation]]:
        """The operations up to each of so many meetings, and those after them."""
        found: list[list[Operation]] = [[]]
        for op in self._kernel.body.block.ops:
            found[-1].append(op)
            if isinstance(op, MEETINGS) and len(found) <= meetings:
                found.append([])
        return found

    # ---------------------------------------------------------------- walking

    def walk(self, ops: Iterable[Operation], scope: _Scope | None) -> Iterator[Read]:
        """Go on over these operations and report what they read."""
        for op in ops:
            if type(op) in DECLARATIONS:
                continue
            if is_instruction(op) or isinstance(op, DevicePrintOp):
                if type(op) is not CoreBarrierOp:
                    yield from self._visit(op, scope)
            elif isinstance(op, NoReorderOp):
                yield from self.walk(op.body.block.ops, scope)
            elif isinstance(op, ForOp):
                yield from self._walk_for(op, scope)
            elif isinstance(op, WhileOp):
                yield from self.walk(op.before_region.block.ops, scope)
                yield from self._walk_body(op, op.after_region.block, scope, _Scope())

    def _walk_for(self, loop: ForOp, scope: _Scope | None) -> Iterator[Read]:
        least, most = self._ranges.trip_counts(loop)
        if most == 0:
            return
        yield from self._walk_body(loop, loop.body.block, scope, scope if least else _Scope())

    def _walk_body(
        self, loop: Operation, body: Block, outside: _Scope | None, inside: _Scope | None
    ) -> Iterator[Read]:
        self._forget_written(loop)
        self._loops.append(_Loop(body, runs=inside is outside))
        yield from self.walk(body.ops, inside)
        ended = self._loops.pop()
        if inside is not None and inside is not outside:
            inside.closed = True
        for argument in body.args:
            self._forget(argument)
        for tensor, value, scope in ended.together:
            tensor.write(self.extent(value), scope, True)

    def _forget_written(self, loop: Operation) -> None:
        """What a loop changes does not place anything any more from its second iteration on."""
        if not self._by_index:
            return
        for op in _inside(loop):
            for register in registers_written(op):
                self._forget(register)
            for effect in effects(op):
                if effect.role is not Role.read:
                    self._forget(base_of(effect.value))

    def _visit(self, op: Operation, scope: _Scope | None) -> Iterator[Read]:
        written: list[tuple[WrittenTensor, Effect]] = []
        for effect in effects(op):
            tensor = self.tensor_of(effect.value)
            if tensor is None:
                continue
            if effect.role is not Role.read:
                written.append((tensor, effect))
            if not self.reads(op, effect):
                continue
            if tensor.knows(effect.value):
                if self._known:
                    yield Read(op, effect, Verdict.written)
            elif self._known or effect.value not in tensor.reported:
                yield self._read(op, effect, tensor, scope)
        for tensor, effect in written:
            self._write(tensor, effect, scope)
        if self._by_index:
            for register in registers_written(op):
                self._forget(register)

    def _read(
        self, op: Operation, effect: Effect, tensor: WrittenTensor, scope: _Scope | None
    ) -> Read:
        value = effect.value
        index = index_of(value)
        must, may = tensor.state_of(self.extent(value))
        if must.all():
            if index is None:
                tensor.note(value, scope)
            return Read(op, effect, Verdict.written)
        exact = index is None and not effect.partial
        if value in tensor.reported or (may.all() if exact else may.any()):
            return Read(op, effect, Verdict.unknown)
        tensor.reported.add(value)
        wanted = self.EXACT and (self._regions or isinstance(op, ReturnOp))
        exactly = wanted and index is None and tensor.reach.size <= REPORTED_EXACTLY
        missing = tensor.missing(value) if exactly else None
        return Read(op, effect, Verdict.unwritten, missing, not may.any())

    def _write(self, tensor: WrittenTensor, effect: Effect, scope: _Scope | None) -> None:
        value, index = effect.value, index_of(effect.value)
        certain = not effect.partial
        if index is not None:
            tensor.write(self.extent(value), scope, False)
            if certain:
                self._note_dynamic(tensor, value, index, scope)
        elif not tensor.knows(value):
            tensor.write(self.extent(value), scope, certain)
            if certain:
                tensor.note(value, scope)
        if self._by_index:
            # Whatever an index in this tensor placed is somewhere else now.
            self._forget(tensor.base)

    def _note_dynamic(
        self, tensor: WrittenTensor, value: SSAValue, index: SSAValue, scope: _Scope | None
    ) -> None:
        """The tile is written as long as its index stays what it is."""
        tensor.known[value] = scope
        self._by_index.setdefault(base_of(index), []).append((tensor, value))
        if not isinstance(index, BlockArgument) or self._steps(value) is None:
            return
        bodies = [around.body for around in self._loops]
        if index.block not in bodies:
            return  # one iteration is walked by itself
        depth = bodies.index(index.block)
        # Written in every iteration, unless a loop inside may not run.
        if all(around.runs for around in self._loops[depth:]):
            self._loops[depth].together.append((tensor, value, scope))

    def _forget(self, index: SSAValue) -> None:
        for tensor, value in self._by_index.pop(index, ()):
            tensor.known.pop(value, None)

    # ---------------------------------------------------------------- other cores

    def announce(self, ops: Sequence[Operation], other: CoreWrites) -> None:
        """Note that another core may write, in some operations, while this one is in a phase."""
        for effect in _writes(ops):
            for mine, theirs in zip(self.shared, other.shared, strict=False):
                if theirs.base is base_of(effect.value):
                    mine.write(other.extent(effect.value), None, False)

    def meet(self, others: Sequence[CoreWrites]) -> None:
        """What the other cores have written is seen here from now on."""
        for other in others:
            for mine, theirs in zip(self.shared, other.shared, strict=False):
                mine.learn(theirs)

    def results(self) -> Iterator[Read]:
        """What is known of the tensors that the kernel returns, at its end."""
        last = self._kernel.body.block.last_op
        # A trace that was broken off has no results.
        if isinstance(last, ReturnOp):
            yield from self._visit(last, None)

    # ---------------------------------------------------------------- look-ups

    def extent(self, value: SSAValue) -> Extent:
        """The bytes of its tensor that a tile touches, or may touch."""
        extent = self._extents.get(value)
        if extent is None:
            reach = self._tensors[base_of(value)].reach
            extent = self._extents[value] = extent_of(value, reach, self._steps(value))
        return extent

    def _steps(self, value: SSAValue) -> tuple[int, int, int] | None:
        """The induction variable that places a tile: first value, step, and how many there are."""
        index = index_of(value)
        loop = index.block.parent_op() if isinstance(index, BlockArgument) else None
        if not isinstance(loop, ForOp):
            return None
        values, owner = constant_range(loop), value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None or values is None or values.start < 0:
            return None
        count = len(range(values.start, min(values.stop, dynamic.bound), values.step))
        return (values.start, values.step, count) if count else None

    def reads(self, op: Operation, effect: Effect) -> bool:
        """True when an operation needs what is in a tile."""
        return effect.role is Role.read

    def tensor_of(self, value: SSAValue) -> WrittenTensor | None:
        """The tensor that a tile is in; None for arguments and constants that no view leaves."""
        base = base_of(value)
        tensor = self._tensors.get(base)
        if tensor is None and type(base.owner) is AllocOp:
            tensor = self._tensors[base] = WrittenTensor(self, base)
        return tensor


def _inside(op: Operation) -> list[Operation]:
    """The operations of an operation's regions."""
    return [inner for region in op.regions for inner in operations(region.block)]


def _writes(ops: Iterable[Operation]) -> Iterator[Effect]:
    """What operations write, with those in their regions."""
    for top in ops:
        for op in (top, *_inside(top)):
            yield from (e for e in effects(op) if e.role is not Role.read)
