"""Tracks which parts of a kernel's tensors have been written when an operation reads them.

Some writes certainly happen before a read. Others may happen: writes at addresses known only at run
time, in loops that may run zero times, and by other cores. `written_tensors.py` tracks the bytes of
both types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

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
    shared_tensors,
)
from nkijit.dialects.nki.views import (
    ViewOp,
    base_of,
    index_of,
    leaves_its_tensor,
    uses_of,
    views_of,
)
from nkijit.dialects.walks import directly_in, operations
from nkijit.passes.analysis.flow.ranges import Ranges
from nkijit.passes.analysis.writes.written_tensors import (
    REPORTED_EXACTLY,
    Mask,
    Memories,
    Scope,
    WrittenTensor,
    steps_of,
)


class Verdict(Enum):
    """Whether a tile has been written when an operation reads it."""

    written = "written"
    """Every element has certainly been written."""
    unwritten = "unwritten"
    """Some element has certainly not been written."""
    unknown = "unknown"
    """Data or other cores decide whether every element has been written."""


@dataclass(frozen=True, slots=True)
class Read:
    """An operation's read of a tile."""

    op: Operation
    effect: Effect
    verdict: Verdict
    missing: Mask | None = None
    """True for the elements of the tile that have certainly not been written.

    None unless `verdict` is `unwritten`. Also None for tiles at addresses known only at run time,
    and for tensors of more than `REPORTED_EXACTLY` bytes.
    """
    entire: bool = False
    """True if no element of the tile has been written."""


_MEETINGS = frozenset(MEETINGS)


def reads_of(
    kernels: Sequence[KernelOp],
    *,
    known: bool = False,
    regions: bool = True,
    tensors: Collection[SSAValue] | None = None,
) -> Iterator[Read]:
    """Yield the reads of a launch, core by core, that may read unwritten elements.

    Loops are analysed in their first iteration, when the fewest elements have been written. A tile
    that has been reported counts as written from there on.

    Args:
        kernels: the programs of the launch, one per core.
        known: also yield the reads of tiles that are certainly written.
        regions: compute `Read.missing` for all reads, not only for results.
        tensors: the allocations and arguments to check; None for all.
    """
    tracked = (
        None
        if tensors is None
        else Tracked.of([*tensors, *(base for kernel in kernels for base in _shared(kernel))])
    )
    cores = [_Core(kernel, known, regions, tracked) for kernel in kernels]
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
    """Let the cores' values of each shared tensor use the same `Memory`."""
    for tensors in zip(*(core.shared for core in cores), strict=False):
        memory = tensors[0].memory
        memory.names = tuple(tensor.base for tensor in tensors)
        for tensor in tensors:
            tensor.memory = memory


@dataclass(frozen=True, slots=True)
class Tracked:
    """The tensors that a walk tracks, and the operations that it needs to visit for that."""

    tensors: set[int]
    """The `id` of each allocation and argument."""
    ops: set[int]
    """The `id` of each operation that uses one of the tensors, or an index into one of them."""

    @staticmethod
    def of(bases: Iterable[SSAValue]) -> Tracked:
        """Return some allocations and arguments, with the operations that access them."""
        pending = list(bases)
        tensors, reached, ops = set(map(id, pending)), set[int](), set[int]()
        while pending:
            base = pending.pop()
            if id(base) in reached:
                continue
            reached.add(id(base))
            for value in (base, *views_of(base)):
                index = index_of(value)
                if index is not None:
                    pending.append(base_of(index))
                for use in uses_of(value):
                    user = use.operation
                    ops.add(id(user))
                    if type(user) is ViewOp and use.index > 0:  # `value` selects its elements
                        ops.update([id(through.operation) for through in uses_of(user.result)])
        return Tracked(tensors, ops)


@dataclass(slots=True)
class _Loop:
    body: Block
    runs: bool
    """True if the loop certainly runs at least once."""
    together: list[tuple[WrittenTensor, SSAValue, Scope | None]] = field(
        default_factory=list["tuple[WrittenTensor, SSAValue, Scope | None]"]
    )
    """Tiles at the loop's index that every iteration writes: (tensor, tile, scope)."""


class CoreWrites:
    """The parts of tensors that one core has written, during a walk of its program.

    A subclass can change which effects count as reads (`reads`) and which tensors are tracked
    (`tensor_of`).
    """

    EXACT: ClassVar[bool] = True
    """True if the walk computes `Read.missing`."""

    def __init__(
        self,
        kernel: KernelOp,
        memories: Memories | None = None,
        *,
        known: bool = False,
        regions: bool = True,
        tracked: Tracked | None = None,
    ):
        self._known = known
        self._regions = regions
        self._tracked = tracked
        """The tensors to track; None for all."""
        self._kernel = kernel
        self._ranges = Ranges(kernel)
        self._memories = memories or Memories()
        # By identity: hashing a value costs a call.
        self._tensors: dict[int, WrittenTensor | None] = {}
        """The tensor of each tile by `id`; None for tiles of tensors that are not tracked."""
        self._reported: set[SSAValue] = set()
        """Tiles that have been reported as unwritten."""
        self._by_index: dict[SSAValue, list[tuple[WrittenTensor, SSAValue]]] = {}
        """For each index, the indirect tiles that count as written until the index changes."""
        self._loops: list[_Loop] = []
        """The loops around the current operation, outermost first."""

    # ---------------------------------------------------------------- walking

    def walk(self, ops: Iterable[Operation], scope: Scope | None) -> Iterator[Read]:
        """Continue the walk with some operations, and yield their reads."""
        for op in ops:
            kind = type(op)
            if kind in DECLARATIONS or not self._visits(op):
                continue
            if is_instruction(op) or kind is DevicePrintOp:
                if kind is not CoreBarrierOp:
                    yield from self._visit(op, scope)
            elif not op.regions:
                continue
            elif isinstance(op, NoReorderOp):
                yield from self.walk(op.body.block.ops, scope)
            elif isinstance(op, ForOp):
                yield from self._walk_for(op, scope)
            elif isinstance(op, WhileOp):
                yield from self.walk(op.before_region.block.ops, scope)
                yield from self._walk_body(op, op.after_region.block, scope, Scope())

    def _visits(self, op: Operation) -> bool:
        """Return whether a walk needs an operation: a loop, or one with tracked tensors."""
        return self._tracked is None or bool(op.regions) or id(op) in self._tracked.ops

    def _walk_for(self, loop: ForOp, scope: Scope | None) -> Iterator[Read]:
        least, most = self._ranges.trip_counts(loop)
        if most == 0:
            return
        yield from self._walk_body(loop, loop.body.block, scope, scope if least else Scope())

    def _walk_body(
        self, loop: Operation, body: Block, outside: Scope | None, inside: Scope | None
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
        """Forget that tiles are written if the loop changes their index, and so their elements."""
        if not self._by_index:
            return
        for op in _inside(loop):
            for register in registers_written(op):
                self._forget(register)
            for effect in effects(op):
                if effect.role is not Role.read:
                    self._forget(base_of(effect.value))

    def _visit(self, op: Operation, scope: Scope | None) -> Iterator[Read]:
        written: list[tuple[WrittenTensor, Effect]] = []
        tensors = self._tensors
        for effect in effects(op):
            _, value, role, _ = effect
            key = id(value)
            if key not in tensors:
                tensors[key] = self.tensor_of(value)
            tensor = tensors[key]
            if tensor is None:
                if self._by_index and role is not Role.read:
                    self._forget(base_of(value))
                continue
            if role is not Role.read:
                written.append((tensor, effect))
            if not self.reads(op, effect):
                continue
            if tensor.knows(value):
                if self._known:
                    yield Read(op, effect, Verdict.written)
            elif self._known or value not in self._reported:
                yield self._read(op, effect, tensor, scope)
        for tensor, effect in written:
            self._write(tensor, effect, scope)
        if self._by_index:
            for register in registers_written(op):
                self._forget(register)

    def _read(
        self, op: Operation, effect: Effect, tensor: WrittenTensor, scope: Scope | None
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

    def _write(self, tensor: WrittenTensor, effect: Effect, scope: Scope | None) -> None:
        value, index = effect.value, index_of(effect.value)
        certain = not effect.partial
        if index is not None:
            tensor.write(value, scope, False)
            if certain:
                self._note_dynamic(tensor, value, index, scope)
        elif not tensor.knows(value):
            tensor.write(value, scope, certain)
        if self._by_index:
            # Tiles that an index in this tensor selects are at other elements after the write.
            self._forget(tensor.base)

    def _note_dynamic(
        self, tensor: WrittenTensor, value: SSAValue, index: SSAValue, scope: Scope | None
    ) -> None:
        """Record that an indirect tile counts as written until its index changes."""
        tensor.known[id(value)] = scope
        self._by_index.setdefault(base_of(index), []).append((tensor, value))
        if not isinstance(index, BlockArgument) or steps_of(value) is None:
            return
        bodies = [around.body for around in self._loops]
        if index.block not in bodies:
            return  # a single iteration is walked on its own
        depth = bodies.index(index.block)
        # Written in every iteration, unless an inner loop may run zero times.
        if all(around.runs for around in self._loops[depth:]):
            self._loops[depth].together.append((tensor, value, scope))

    def _forget(self, index: SSAValue) -> None:
        for tensor, value in self._by_index.pop(index, ()):
            tensor.known.pop(id(value), None)

    # ---------------------------------------------------------------- look-ups

    def reads(self, op: Operation, effect: Effect) -> bool:
        """Whether an operation depends on the contents of a tile."""
        return effect.role is Role.read

    def tensor_of(self, value: SSAValue) -> WrittenTensor | None:
        """Return the tensor of a tile; None for arguments and constants that are not tracked."""
        base = base_of(value)
        if self._tracked is not None and id(base) not in self._tracked.tensors:
            return None
        if type(base.owner) is not AllocOp:
            return self._tensors.get(id(base))
        return self._tensor(base)

    def _tensor(self, base: SSAValue) -> WrittenTensor:
        tensor = self._tensors.get(id(base))
        if tensor is None:
            tensor = self._tensors[id(base)] = WrittenTensor(self._memories.of(base), base)
        return tensor


class _Core(CoreWrites):
    """A core of a launch. The cores share memory and synchronise."""

    def __init__(self, kernel: KernelOp, known: bool, regions: bool, tracked: Tracked | None):
        super().__init__(kernel, known=known, regions=regions, tracked=tracked)
        several = kernel.core[1] > 1
        self.shared = [self._tensor(base) for base in _shared(kernel)]
        """The core's tensors in shared HBM, in an order that is equal on all cores."""
        self.meetings = 0
        """The number of synchronisations with other cores before the first one in a loop."""
        for op in directly_in(kernel.body.block) if several else ():
            if op.regions and any(type(inner) in _MEETINGS for inner in _inside(op)):
                break
            self.meetings += type(op) in _MEETINGS

    def look_beyond(self) -> None:
        """Track each argument or constant with a view beyond its end; it counts as written."""
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
        """Split the operations into phases at the first `meetings` synchronisations of cores."""
        found: list[list[Operation]] = [[]]
        for op in directly_in(self._kernel.body.block):
            if self._visits(op):
                found[-1].append(op)
            if type(op) in _MEETINGS and len(found) <= meetings:
                found.append([])
        return found

    def announce(self, ops: Sequence[Operation], other: _Core) -> None:
        """Record that operations of another core may write to this core's shared tensors."""
        mine = {
            id(theirs.base): tensor
            for tensor, theirs in zip(self.shared, other.shared, strict=False)
        }
        for effect in _writes(ops) if mine else ():
            tensor = mine.get(id(base_of(effect.value)))
            if tensor is not None:
                tensor.write(effect.value, None, False)

    def meet(self, others: Sequence[_Core]) -> None:
        """Record the certain writes of the other cores, which a synchronisation makes visible."""
        for other in others:
            for mine, theirs in zip(self.shared, other.shared, strict=False):
                mine.learn(theirs)

    def results(self) -> Iterator[Read]:
        """Yield the reads of the kernel's results, which happen at its end."""
        last = self._kernel.body.block.last_op
        # A trace that ended with an error has no results.
        if isinstance(last, ReturnOp):
            yield from self._visit(last, None)


def _shared(kernel: KernelOp) -> Sequence[SSAValue]:
    """Return a program's allocations in shared HBM, in an order that is equal on all cores."""
    return shared_tensors(kernel)[len(kernel.arguments) :] if kernel.core[1] > 1 else ()


def _inside(op: Operation) -> list[Operation]:
    return [inner for region in op.regions for inner in operations(region.block)]


def _writes(ops: Iterable[Operation]) -> Iterator[Effect]:
    """Return the writing effects of operations, including nested ones."""
    for top in ops:
        for op in (top, *_inside(top)) if top.regions else (top,):
            yield from (e for e in effects(op) if e.role is not Role.read)
