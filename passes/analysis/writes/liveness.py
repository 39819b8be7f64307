"""Live ranges: the positions of a program between which an on-chip allocation is in use.

Positions number the instructions of one core's program in the order of its text, so a loop's body
is a contiguous range. An allocation is live from its first access to its last, both inclusive. An
access to a view counts as an access to its allocation. In a device loop, the following applies:

- If the body may read an allocation before the body has certainly overwritten the allocation, the
  allocation carries a value into the loop or from one iteration to the next. The allocation is live
  in the whole loop.
- An allocation that is used in the loop and after the loop is live in the whole loop.
- An allocation that every iteration overwrites before reading it, and that nothing uses after the
  loop, is live only within the body.

`nki.no_reorder` is not a loop. An allocation without accesses has no live range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import cast

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, ReturnOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.dialects.walks import directly_in, found_once
from nkijit.passes.analysis.writes.written import CoreWrites, Tracked, Verdict
from nkijit.passes.analysis.writes.written_tensors import Memories
from nkijit.passes.diagnostics.fields import ShownFields

DeviceLoop = ForOp | WhileOp
"""Loops that run on the device."""


@dataclass(slots=True, repr=False, eq=False)
class LiveRange(ShownFields):
    """The positions, both inclusive, between which an on-chip allocation is in use."""

    alloc: AllocOp
    result: SSAValue
    """The value that the allocation defines."""
    start: int
    end: int
    first: int
    """The position of the first access in program order; carried tiles have a lower `start`."""
    last: int
    """The position of the last access in program order."""
    tile: TileInfo
    """The type of the allocation."""

    def overlaps(self, other: LiveRange) -> bool:
        """Whether two allocations are both in use at some position."""
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True, repr=False)
class LoopRange(ShownFields):
    """A loop on the device, with the positions of its body, both inclusive."""

    op: DeviceLoop
    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Liveness(ShownFields):
    """The live ranges of one core's program."""

    kernel: KernelOp
    instructions: Sequence[Operation]
    """The operation at each position: instructions, prints and the return."""
    ranges: Sequence[LiveRange]
    """The live ranges of the on-chip allocations that are accessed, in the order of allocation."""
    unused: Sequence[AllocOp]
    """On-chip allocations without accesses."""
    loops: Sequence[LoopRange]
    """The loops that contain instructions; inner loops precede outer ones."""

    def positions(self) -> dict[Operation, int]:
        """Return the position of each instruction."""
        return {op: position for position, op in enumerate(self.instructions)}


def liveness(kernel: KernelOp) -> Liveness:
    """Compute the live ranges of a kernel's on-chip allocations in time linear in its operations.

    The result is cached while the kernel does not change (`found_once`).
    """
    return found_once(kernel, _liveness)


def _liveness(kernel: KernelOp) -> Liveness:
    walk = _Walk(kernel)
    walk.block(kernel.body.block)
    ranges = [live for live in walk.ranges if live.first >= 0]
    unused = [live.alloc for live in walk.ranges if live.first < 0]
    loops = [LoopRange(loop.op, loop.start, loop.end) for loop in walk.loops]
    return Liveness(kernel, walk.instructions, ranges, unused, loops)


# ------------------------------------------------------------------ accesses

_OTHERS = (DevicePrintOp, ReturnOp)
"""The operations that have a position besides instructions."""


class _First(Enum):
    """The first access to an allocation in an iteration of a loop."""

    reads = "reads"
    """It may read contents from before the iteration."""
    overwrites = "overwrites"
    """It certainly overwrites the whole allocation."""
    overwrites_inside = "overwrites inside"
    """Iterations of inner loops overwrite it first, and only inner loops access it."""
    unknown = "unknown"
    """`_carried` finds out."""


@dataclass(slots=True)
class _LoopUses:
    op: DeviceLoop
    start: int
    end: int = -1
    uses: dict[LiveRange, _First] = field(default_factory=dict[LiveRange, _First])

    def add(self, live: LiveRange, op: Operation, target: Target) -> None:
        """Add an access by an operation in the loop's body, outside of inner loops."""
        known = self.uses.get(live)
        if known is None:
            self.uses[live] = _first_access(op, live, live.first < self.start, target)
        elif known is _First.overwrites_inside:
            self.uses[live] = _First.unknown

    def add_inner(self, inner: _LoopUses) -> None:
        """Add the accesses of an inner loop, which may run zero times."""
        uses = self.uses
        for live, first in inner.uses.items():
            if first is _First.overwrites:
                first = _First.overwrites_inside
            known = uses.get(live)
            if known is None:
                uses[live] = first
            elif known is _First.overwrites_inside and first is not known:
                uses[live] = _First.unknown


class _Walk:
    """A walk that numbers the instructions and collects the accesses to on-chip allocations."""

    def __init__(self, kernel: KernelOp) -> None:
        self._kernel = kernel
        self._target = kernel.target
        self.instructions: list[Operation] = []
        self.ranges: list[LiveRange] = []
        """The live ranges of all on-chip allocations; positions are -1 before the first access."""
        self.loops: list[_LoopUses] = []
        # For each value, by identity (hashing one costs a call): the allocations that it accesses.
        self._touched: dict[int, tuple[LiveRange, ...]] = {}
        self._open: list[_LoopUses] = []
        self._memories = Memories()

    def block(self, block: Block) -> None:
        self._walk(block)
        for live in self.ranges:
            live.start, live.end = live.first, live.last
        for loop in self.loops:
            self._widen(loop)

    def _walk(self, block: Block) -> None:
        touched, instructions = self._touched, self.instructions
        inside = self._open[-1] if self._open else None
        # Fields instead of properties: xDSL's accessors of operands and results are slow.
        for op in directly_in(block):
            kind = type(op)
            operands = operand_tuple(op)
            if kind is ViewOp:
                # An instruction that uses an indirect view also reads its index tile.
                uses: tuple[LiveRange, ...] = ()
                for value in operands:
                    uses += touched.get(id(value), ())
                if uses:
                    (result,) = op.results
                    touched[id(result)] = uses
            elif kind is AllocOp:
                op = cast(AllocOp, op)
                (result,) = op.results
                tile = info_of(result)
                if tile.region.on_chip:
                    live = LiveRange(op, result, -1, -1, -1, -1, tile)
                    self.ranges.append(live)
                    touched[id(result)] = (live,)
            elif is_instruction(op) or kind in _OTHERS:
                position = len(instructions)
                instructions.append(op)
                for value in operands:
                    for use in touched.get(id(value), ()):
                        if use.first < 0:
                            use.first = position
                        use.last = position
                        if inside is not None:
                            inside.add(use, op, self._target)
            elif isinstance(op, (ForOp, WhileOp)):
                self._loop(op)
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        self._walk(inner)

    def _loop(self, op: DeviceLoop) -> None:
        loop = _LoopUses(op, len(self.instructions))
        self._open.append(loop)
        for region in op.regions:
            for inner in region.blocks:
                self._walk(inner)
        self._open.pop()
        loop.end = len(self.instructions) - 1
        if loop.end >= loop.start:
            self.loops.append(loop)
        if self._open:
            self._open[-1].add_inner(loop)

    def _widen(self, loop: _LoopUses) -> None:
        """Extend the live ranges of allocations in use in a whole loop; inner loops first."""
        carried = {use.result for use, first in loop.uses.items() if first is _First.reads}
        used_before: dict[SSAValue, bool] = {
            use.result: use.first < loop.start
            for use, first in loop.uses.items()
            if first is _First.unknown
        }
        if used_before:
            carried |= _carried(self._kernel, self._memories, loop.op, used_before)
        for use in loop.uses:
            if use.last > loop.end or use.result in carried:
                use.start = min(use.start, loop.start)
                use.end = max(use.end, loop.end)


# ------------------------------------------------------------------ values carried by loops


class _Iteration(CoreWrites):
    """The walk of one loop iteration, which starts with nothing written."""

    EXACT = False

    def __init__(self, kernel: KernelOp, memories: Memories, used_before: dict[SSAValue, bool]):
        """Start an iteration. `used_before`: whether each allocation was accessed before."""
        super().__init__(kernel, memories, tracked=Tracked.of(used_before))
        self._used_before = used_before
        self._target = kernel.target

    def reads(self, op: Operation, effect: Effect) -> bool:
        """Whether an effect reads a tile; partial writes and accumulation count as reads."""
        return _reads(op, effect, self._used_before[base_of(effect.value)], self._target)


def _carried(
    kernel: KernelOp, memories: Memories, loop: DeviceLoop, used_before: dict[SSAValue, bool]
) -> set[SSAValue]:
    """Return the allocations that a loop's body may read before it has overwritten them."""
    iteration = _Iteration(kernel, memories, used_before)
    ops = [op for region in loop.regions for op in region.block.ops]
    found = iteration.walk(ops, None)
    return {base_of(r.effect.value) for r in found if r.verdict is not Verdict.written}


def _first_access(op: Operation, live: LiveRange, used_before: bool, target: Target) -> _First:
    """Return the access of an operation to an allocation; `used_before`: see `_Iteration`."""
    first = _First.unknown
    for effect in effects(op):
        if base_of(effect.value) is live.result:
            if _reads(op, effect, used_before, target):
                return _First.reads
            if is_whole(effect.value, live.tile):
                first = _First.overwrites
    return first


def is_whole(value: SSAValue, allocation: TileInfo) -> bool:
    """Whether a tile covers its whole allocation."""
    tile = info_of(value)
    if tile is allocation:
        return True
    distinct = all(s != 0 or n == 1 for s, n in zip(tile.strides, tile.shape, strict=True))
    same = tile.size * tile.dtype.bits == allocation.size * allocation.dtype.bits
    return tile.indirection is None and distinct and same


def _reads(op: Operation, effect: Effect, used_before: bool, target: Target) -> bool:
    """Whether an effect depends on the contents of its tile."""
    if effect.role is Role.read or effect.partial:
        return True
    return effect.role is Role.update and (used_before or not _starts(op, target))


def _starts(op: Operation, target: Target) -> bool:
    """Whether an instruction overwrites its destination, at least where no matmul has written."""
    if not is_instruction(op):
        return False
    return accumulation_of(op, target) in (Accumulation.overwrites, Accumulation.by_location)
