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
from itertools import islice
from typing import ClassVar, NamedTuple, TypeVar

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
from nkijit.dialects.nki.constant import ConstantOp
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
from nkijit.passes.analysis.footprints import (
    Cells,
    Extent,
    FewCells,
    Footprint,
    cut,
    extent_of,
)
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


class Memory:
    """The memory of a tensor, and which part of it each of its tiles touches.

    Worked out once, when it is first asked for, and shared by all that ask about a kernel.
    """

    # A kernel has as many tensors as instructions.
    __slots__ = ("_cells", "_extents", "_reach", "names")

    def __init__(self, base: SSAValue):
        self.names: tuple[SSAValue, ...] = (base,)
        """What the cores call it."""
        self._extents: dict[int, Extent] | None = None
        self._reach: Reach | None = None
        self._cells: Cells | FewCells | None = None

    @property
    def reach(self) -> Reach:
        """The memory, with what the views of all cores reach beyond it."""
        if self._reach is None:
            self._reach = reach_of(*self.names)
        return self._reach

    @property
    def cells(self) -> Cells | FewCells:
        """The cells that no view cuts."""
        if self._cells is None:
            values = [value for base in self.names for value in (base, *views_of(base))]
            self._cells = cut(self.reach, map(self.extent, values))
        return self._cells

    def extent(self, value: SSAValue) -> Extent:
        """The bytes of it that a tile touches, or may touch."""
        known = self._extents
        if known is None:
            known = self._extents = {}
        # By identity, as hashing a value is a call.
        extent = known.get(id(value))
        if extent is None:
            extent = known[id(value)] = extent_of(value, self.reach, _steps(value))
        return extent


class Memories:
    """The memories of the tensors of one kernel."""

    def __init__(self) -> None:
        self._known: dict[int, Memory] = {}

    def of(self, base: SSAValue) -> Memory:
        """The memory of an allocation or an argument."""
        memory = self._known.get(id(base))
        if memory is None:
            memory = self._known[id(base)] = Memory(base)
        return memory


class _Bits:
    """What has been written of a tensor of few cells, as the bits of integers."""

    def __init__(self, cells: FewCells, tensor: Extent):
        self._cells = cells.bits
        self._tensor = cells.bits[tensor]
        self._may = self._must = 0
        self._open: dict[_Scope, int] = {}
        """What must have been written if a scope has run, besides."""

    def write(self, extent: Extent, scope: _Scope | None, certain: bool) -> None:
        bits = self._cells[extent] & self._tensor
        self._may |= bits
        if certain and scope is None:
            self._must |= bits
        elif certain and scope is not None and not scope.closed:
            self._open[scope] = self._open.get(scope, 0) | bits

    def state_of(self, extent: Extent) -> _State:
        bits, must = self._cells[extent], self._must
        for scope in _still_open(self._open):
            must |= self._open[scope]
        may = self._may & bits
        return _State(must & bits == bits, may == bits, may != 0)


class _Masks:
    """What has been written of a tensor of many cells, as arrays."""

    def __init__(self, cells: Cells, tensor: Extent, extended: bool):
        self._cells = cells
        self._must, self._may = (np.zeros(cells.count, np.bool_) for _ in range(2))
        self._open: dict[_Scope, Mask] = {}
        """What must have been written if a scope has run, besides."""
        self._tensor: Mask | None = None
        """The cells that are the tensor's, where not all are: nothing writes the others."""
        if extended:
            self._tensor = np.zeros(cells.count, np.bool_)
            cells.footprint(tensor).part(self._tensor)[...] = True

    def write(self, extent: Extent, scope: _Scope | None, certain: bool) -> None:
        footprint = self._cells.footprint(extent)
        self._mark(footprint, self._may)
        if certain and scope is None:
            self._mark(footprint, self._must)
        elif certain and scope is not None and not scope.closed:
            if scope not in self._open:
                self._open[scope] = np.zeros(self._cells.count, np.bool_)
            self._mark(footprint, self._open[scope])

    def _mark(self, footprint: Footprint, marks: Mask) -> None:
        part = footprint.part(marks)
        part[...] = True if self._tensor is None else footprint.part(self._tensor)

    def state_of(self, extent: Extent) -> _State:
        footprint = self._cells.footprint(extent)
        must, may = footprint.part(self._must), footprint.part(self._may)
        for scope in _still_open(self._open):
            must = must | footprint.part(self._open[scope])
        return _State(bool(must.all()), bool(may.all()), bool(may.any()))


class _Unknown:
    """What has been written of a tensor that is cut into too many cells."""

    def write(self, extent: Extent, scope: _Scope | None, certain: bool) -> None:
        pass

    def state_of(self, extent: Extent) -> _State:
        return _State(False, True, True)


class _State(NamedTuple):
    """What has been written of a tile."""

    certainly: bool
    """All of it has certainly been written."""
    perhaps: bool
    """All of it may have been."""
    some: bool
    """Some of it may have been."""


_S = TypeVar("_S")


def _still_open(found: dict[_Scope, _S]) -> Iterable[_Scope]:
    """The scopes that have not ended; what is known of others is dropped."""
    for scope in [scope for scope in found if scope.closed]:
        del found[scope]
    return found


class WrittenTensor:
    """One allocation as one core sees it."""

    # A kernel has as many tensors as instructions, and most are written and read as a whole.
    __slots__ = (
        *("_complete", "_entries", "_learnt", "_marked", "_marks", "_possible", "_touched"),
        *("_touching", "base", "known", "memory"),
    )

    def __init__(self, memory: Memory, base: SSAValue):
        self.base = base
        self.memory = memory
        self.known: dict[int, _Scope | None] = {}
        """Tiles that are certainly written, as long as the scope is open, by their identity."""
        self._entries: list[tuple[SSAValue, _Scope | None, bool]] = []
        """The tiles that were written, or may have been; the last is True for what was, as a
        whole, if the scope has run."""
        self._possible: set[Extent] | None = None
        """What may have been written, besides what was."""
        self._complete: list[_Scope | None] = []
        """Scopes in which all of it was written."""
        self._marks: _Bits | _Masks | _Unknown | None = None
        self._marked = 0
        """How many of the entries are in the marks."""
        self._touched: Mask | None = None
        self._touching = 0
        """How many of the entries are in what is touched."""
        self._learnt: dict[WrittenTensor, int] | None = None

    def knows(self, value: SSAValue) -> bool:
        """True when a look-up says that a tile is written."""
        complete = self._complete
        while complete:
            scope = complete[-1]
            if scope is None or not scope.closed:
                return True
            complete.pop()
        scope = self.known.get(id(value), _CLOSED)
        return scope is None or not scope.closed

    def write(self, value: SSAValue, scope: _Scope | None, certain: bool) -> None:
        """Note that a tile was written, or may have been."""
        if not certain:
            extent = self.memory.extent(value)
            if self._possible is None:
                self._possible = set()
            if extent in self._possible:
                return
            self._possible.add(extent)
        self._entries.append((value, scope, certain))
        if certain and self._is_whole(value):
            self._complete.append(scope)
        elif certain and index_of(value) is None:
            self.note(value, scope)

    def _is_whole(self, value: SSAValue) -> bool:
        """True for a tile that is all of the memory."""
        reach = self.memory.reach
        if value is self.base or reach.extended:
            return not reach.extended
        if _bytes_of(value) < reach.size and index_of(value) is None:
            return False
        extent = self.memory.extent(value)
        return extent.low == 0 and extent.is_run and extent.run == reach.size

    def note(self, value: SSAValue, scope: _Scope | None) -> None:
        """A tile is certainly written, as long as the scope is open."""
        if not (self.memory.reach.extended and leaves_its_tensor(value)):
            self.known[id(value)] = scope

    def learn(self, other: WrittenTensor) -> None:
        """Take over what another core has certainly written of the same memory."""
        if self._learnt is None:
            self._learnt = {}
        start = self._learnt.get(other, 0)
        self._learnt[other] = end = len(other._entries)
        for value, scope, certain in other._entries[start:end]:
            if certain and scope is None:
                self.write(value, None, True)

    def state_of(self, value: SSAValue) -> _State:
        """What has been written of a tile."""
        marks, extent = self._marks, self.memory.extent
        if marks is None:
            cells, tensor = self.memory.cells, extent(self.base)
            if isinstance(cells, FewCells):
                marks = _Bits(cells, tensor)
            elif cells.exact:
                marks = _Masks(cells, tensor, self.memory.reach.extended)
            else:
                marks = _Unknown()
            self._marks = marks
        for written, scope, certain in islice(self._entries, self._marked, None):
            marks.write(extent(written), scope, certain)
        self._marked = len(self._entries)
        return marks.state_of(extent(value))

    def missing(self, value: SSAValue) -> Mask:
        """The elements of a tile with bytes that nothing may have written."""
        reach = self.memory.reach
        if self._touched is None:
            self._touched = np.zeros(reach.size, np.bool_)
        touched = self._touched
        for written, _, _ in islice(self._entries, self._touching, None):
            self.memory.extent(written).part(touched)[...] = True
        self._touching = len(self._entries)
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


def _bytes_of(value: SSAValue) -> int:
    """Bytes of a tile's elements; one that it touches twice counts twice."""
    tile = info_of(value)
    return tile.size * tile.dtype.itemsize


_CLOSED = _Scope(closed=True)
_MEETINGS = frozenset(MEETINGS)


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
    cores = [_Core(kernel, known, regions) for kernel in kernels]
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


def _introduce(cores: Sequence[_Core]) -> None:
    """Let the cores see each other's memory."""
    for tensors in zip(*(core.shared for core in cores), strict=False):
        memory = tensors[0].memory
        memory.names = tuple(tensor.base for tensor in tensors)
        for tensor in tensors:
            tensor.memory = memory


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

    def __init__(
        self,
        kernel: KernelOp,
        memories: Memories | None = None,
        *,
        known: bool = False,
        regions: bool = True,
    ):
        self._known = known
        self._regions = regions
        self._kernel = kernel
        self._ranges = Ranges(kernel)
        self._memories = memories or Memories()
        # By identity, as hashing a value is a call.
        self._tensors: dict[int, WrittenTensor | None] = {}
        """The tensor that a tile is in."""
        self._reported: set[SSAValue] = set()
        """Tiles that have been reported as unwritten."""
        self._by_index: dict[SSAValue, list[tuple[WrittenTensor, SSAValue]]] = {}
        """Tiles that are known to be written until the number that places them changes."""
        self._loops: list[_Loop] = []
        """The loops around the operation that is being looked at, from the outside in."""

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
            tensor.write(value, scope, True)

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
        tensors = self._tensors
        for effect in effects(op):
            key = id(effect.value)
            if key not in tensors:
                tensors[key] = self.tensor_of(effect.value)
            tensor = tensors[key]
            if tensor is None:
                continue
            if effect.role is not Role.read:
                written.append((tensor, effect))
            if not self.reads(op, effect):
                continue
            if tensor.knows(effect.value):
                if self._known:
                    yield Read(op, effect, Verdict.written)
            elif self._known or effect.value not in self._reported:
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
        state = tensor.state_of(value)
        if state.certainly:
            if index is None:
                tensor.note(value, scope)
            return Read(op, effect, Verdict.written)
        exact = index is None and not effect.partial
        if value in self._reported or (state.perhaps if exact else state.some):
            return Read(op, effect, Verdict.unknown)
        self._reported.add(value)
        wanted = self.EXACT and (self._regions or isinstance(op, ReturnOp))
        exactly = wanted and index is None and tensor.memory.reach.size <= REPORTED_EXACTLY
        missing = tensor.missing(value) if exactly else None
        return Read(op, effect, Verdict.unwritten, missing, not state.some)

    def _write(self, tensor: WrittenTensor, effect: Effect, scope: _Scope | None) -> None:
        value, index = effect.value, index_of(effect.value)
        certain = not effect.partial
        if index is not None:
            tensor.write(value, scope, False)
            if certain:
                self._note_dynamic(tensor, value, index, scope)
        elif not tensor.knows(value):
            tensor.write(value, scope, certain)
        if self._by_index:
            # Whatever an index in this tensor placed is somewhere else now.
            self._forget(tensor.base)

    def _note_dynamic(
        self, tensor: WrittenTensor, value: SSAValue, index: SSAValue, scope: _Scope | None
    ) -> None:
        """The tile is written as long as its index stays what it is."""
        tensor.known[id(value)] = scope
        self._by_index.setdefault(base_of(index), []).append((tensor, value))
        if not isinstance(index, BlockArgument) or _steps(value) is None:
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
            tensor.known.pop(id(value), None)

    # ---------------------------------------------------------------- look-ups

    def reads(self, op: Operation, effect: Effect) -> bool:
        """True when an operation needs what is in a tile."""
        return effect.role is Role.read

    def tensor_of(self, value: SSAValue) -> WrittenTensor | None:
        """The tensor that a tile is in; None for arguments and constants that no view leaves."""
        base = base_of(value)
        if type(base.owner) is not AllocOp:
            return self._tensors.get(id(base))
        return self._tensor(base)

    def _tensor(self, base: SSAValue) -> WrittenTensor:
        tensor = self._tensors.get(id(base))
        if tensor is None:
            tensor = self._tensors[id(base)] = WrittenTensor(self._memories.of(base), base)
        return tensor


class _Core(CoreWrites):
    """One of the cores of a launch, which share memory and meet."""

    def __init__(self, kernel: KernelOp, known: bool, regions: bool):
        super().__init__(kernel, known=known, regions=regions)
        several = kernel.core[1] > 1
        self.shared = (
            [self._tensor(base) for base in shared_tensors(kernel)[len(kernel.arguments) :]]
            if several
            else []
        )
        """The tensors in shared HBM that it allocates, in the order that all cores agree in."""
        self.meetings = 0
        """How many there are before the first one in a loop, which may be any number."""
        for op in kernel.body.block.ops if several else ():
            if any(type(inner) in _MEETINGS for inner in _inside(op)):
                break
            self.meetings += type(op) in _MEETINGS

    def look_beyond(self) -> None:
        """Follow arguments and constants, which are written, where views leave them."""
        for op in self._kernel.operations:
            if type(op) is ConstantOp:
                (result,) = op.results
                self._look_beyond(result)
        for argument in self._kernel.arguments:
            self._look_beyond(argument)

    def _look_beyond(self, base: SSAValue) -> None:
        if any(map(leaves_its_tensor, views_of(base))):
            self._tensor(base).write(base, None, True)

    def phases(self, meetings: int) -> list[list[Operation]]:
        """The operations up to each of so many meetings, and those after them."""
        found: list[list[Operation]] = [[]]
        for op in self._kernel.body.block.ops:
            found[-1].append(op)
            if type(op) in _MEETINGS and len(found) <= meetings:
                found.append([])
        return found

    def announce(self, ops: Sequence[Operation], other: _Core) -> None:
        """Note that another core may write, in some operations, while this one is in a phase."""
        mine = {
            id(theirs.base): tensor
            for tensor, theirs in zip(self.shared, other.shared, strict=False)
        }
        for effect in _writes(ops) if mine else ():
            tensor = mine.get(id(base_of(effect.value)))
            if tensor is not None:
                tensor.write(effect.value, None, False)

    def meet(self, others: Sequence[_Core]) -> None:
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


def _steps(value: SSAValue) -> tuple[int, int, int] | None:
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


def _inside(op: Operation) -> list[Operation]:
    """The operations of an operation's regions."""
    return [inner for region in op.regions for inner in operations(region.block)]


def _writes(ops: Iterable[Operation]) -> Iterator[Effect]:
    """What operations write, with those in their regions."""
    for top in ops:
        for op in (top, *_inside(top)):
            yield from (e for e in effects(op) if e.role is not Role.read)
