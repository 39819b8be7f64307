"""Live ranges: from where to where in a program an on-chip allocation is in use.

A position numbers the instructions of one core's program in the order of their text, so a loop's
body is a contiguous range. An allocation lives from its first access to its last, both inclusive,
and views count as accesses to what they are views of. A loop on the device goes back to its start,
so inside one

- an allocation that the body may read before it has certainly overwritten it carries a value from
  one iteration to the next, or into the loop: it lives in the whole loop;
- one that is used in the loop and again behind it lives in the whole loop;
- one that every iteration overwrites before it reads it, and that nothing behind the loop uses,
  lives inside the body only.

`nki.no_reorder` is not a loop. An allocation that nothing accesses has no live range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare import NisaOp, scalar_constant
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.fields import Role
from nkijit.dialects.nki import AllocOp, DevicePrintOp, KernelOp, ReturnOp
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.dialects.views import ViewOp, access_of, base_of

Loop = ForOp | WhileOp
"""What goes back to its start on the device."""


@dataclass(frozen=True, slots=True)
class LiveRange:
    """An on-chip allocation and the positions, both inclusive, between which it is in use."""

    alloc: AllocOp
    start: int
    end: int
    first: int
    """Position of the first access in the text; `start` is lower when a loop carries the tile."""
    last: int
    """Position of the last access in the text."""

    @property
    def tile(self) -> TileInfo:
        """What is allocated."""
        return info_of(self.alloc.result)

    def overlaps(self, other: LiveRange) -> bool:
        """True when both are in use at some position."""
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class LoopRange:
    """A loop on the device with the positions of its body, both inclusive."""

    op: Loop
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Liveness:
    """The live ranges of one core's program."""

    kernel: KernelOp
    instructions: Sequence[Operation]
    """The operation at each position: instructions, prints and the return."""
    ranges: Sequence[LiveRange]
    """One for each on-chip allocation that is in use, in the order of allocation."""
    unused: Sequence[AllocOp]
    """On-chip allocations that nothing accesses."""
    loops: Sequence[LoopRange]
    """The loops that have instructions; inner ones stand in front of outer ones."""

    def positions(self) -> dict[Operation, int]:
        """The position of each instruction."""
        return {op: position for position, op in enumerate(self.instructions)}

    def live_at(self, position: int) -> list[LiveRange]:
        """What is in use at a position, in the order of allocation."""
        return [r for r in self.ranges if r.start <= position <= r.end]


def liveness(kernel: KernelOp) -> Liveness:
    """The live ranges of a kernel's on-chip allocations, in time linear in its operations."""
    walk = _Walk()
    walk.block(kernel.body.block)
    ranges: list[LiveRange] = []
    unused: list[AllocOp] = []
    for use in walk.uses.values():
        if use.first < 0:
            unused.append(use.alloc)
        else:
            ranges.append(LiveRange(use.alloc, use.start, use.end, use.first, use.last))
    loops = [LoopRange(loop.op, loop.start, loop.end) for loop in walk.loops]
    return Liveness(kernel, walk.instructions, ranges, unused, loops)


# ------------------------------------------------------------------ accesses


@dataclass(slots=True, eq=False)
class _Use:
    """The accesses to one allocation, and the range that loops have made of them."""

    alloc: AllocOp
    first: int = -1
    last: int = -1
    start: int = -1
    end: int = -1


@dataclass(slots=True)
class _LoopUses:
    op: Loop
    start: int
    end: int = -1
    uses: dict[_Use, None] = field(default_factory=dict[_Use, None])


class _Walk:
    """Numbers the instructions and collects the accesses."""

    def __init__(self) -> None:
        self.instructions: list[Operation] = []
        self.uses: dict[SSAValue, _Use] = {}
        self.loops: list[_LoopUses] = []
        # Values stand here by identity, as hashing one is a call: what an access to it touches.
        self._touched: dict[int, tuple[_Use, ...]] = {}
        self._open: list[_LoopUses] = []

    def block(self, block: Block) -> None:
        """Walk the operations of a kernel's body."""
        self._walk(block)
        for use in self.uses.values():
            use.start, use.end = use.first, use.last
        for loop in self.loops:
            self._widen(loop)

    def _walk(self, block: Block) -> None:
        touched, instructions = self._touched, self.instructions
        for op in block.ops:
            if isinstance(op, (NisaOp, DevicePrintOp, ReturnOp)):
                position = len(instructions)
                instructions.append(op)
                for value in op.operands:
                    for use in touched.get(id(value), ()):
                        if use.first < 0:
                            use.first = position
                        use.last = position
                        if self._open:
                            self._open[-1].uses[use] = None
            elif isinstance(op, ViewOp):
                # An index tile is read by every instruction that uses the view.
                uses = [use for value in op.operands for use in touched.get(id(value), ())]
                if uses:
                    touched[id(op.result)] = tuple(uses)
            elif isinstance(op, AllocOp):
                if info_of(op.result).region.on_chip:
                    use = self.uses[op.result] = _Use(op)
                    touched[id(op.result)] = (use,)
            elif isinstance(op, (ForOp, WhileOp)):
                self._loop(op)
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        self._walk(inner)

    def _loop(self, op: Loop) -> None:
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
            self._open[-1].uses.update(loop.uses)

    def _widen(self, loop: _LoopUses) -> None:
        """Make what lives in the whole loop do so. Inner loops come first."""
        if not loop.uses:
            return
        carried = _carried(loop.op, {use.alloc.result: use.first < loop.start for use in loop.uses})
        for use in loop.uses:
            if use.last > loop.end or use.alloc.result in carried:
                use.start = min(use.start, loop.start)
                use.end = max(use.end, loop.end)


# ------------------------------------------------------------------ what loops carry

Rectangle = tuple[int, int, int, int]
"""First partition, partition behind the last, first bit in them, bit behind the last."""

MOST_RECTANGLES = 64
"""A tile that is written in more pieces than these leave of it counts as partly unwritten."""


@dataclass(slots=True)
class _Iteration:
    """What an iteration of a loop has certainly overwritten so far."""

    used_before: dict[SSAValue, bool]
    """The loop's allocations; True for those that are accessed in front of it."""
    unwritten: dict[SSAValue, tuple[Rectangle, ...]]
    """What is left of an allocation; absent while nothing of it has been written."""
    written: dict[SSAValue, None]
    """Views that have been written as a whole, also those that are no rectangles."""
    carried: set[SSAValue]

    def copy(self) -> _Iteration:
        return _Iteration(self.used_before, dict(self.unwritten), dict(self.written), self.carried)


def _carried(loop: Loop, used_before: dict[SSAValue, bool]) -> set[SSAValue]:
    """The allocations that a loop's body may read before it has overwritten them."""
    state = _Iteration(used_before, {}, {}, set())
    _iterate(loop, state)
    return state.carried


def _iterate(op: Operation, state: _Iteration) -> None:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if isinstance(inner, (ForOp, WhileOp)):
                    # What a loop writes is certain behind it only if it runs at all.
                    _iterate(inner, state if _surely_runs(inner) else state.copy())
                elif inner.regions:
                    _iterate(inner, state)
                else:
                    _access(inner, state)


def _surely_runs(loop: Loop) -> bool:
    if not isinstance(loop, ForOp):
        return False
    lower, upper = scalar_constant(loop.lb), scalar_constant(loop.ub)
    return lower is not None and upper is not None and lower < upper


def _access(op: Operation, state: _Iteration) -> None:
    accesses = [(value, role) for value, role in reads_and_writes(op) if _on_chip(value)]
    # What an instruction reads, it reads before it writes.
    for value, role in accesses:
        base = base_of(value)
        if role is Role.write or base in state.carried:
            continue
        if role is Role.update and _overwrites(op) and not state.used_before[base]:
            continue
        if not _is_written(value, base, state):
            state.carried.add(base)
    for value, role in accesses:
        if role is not Role.read:
            _write(value, base_of(value), state)


def _on_chip(value: SSAValue) -> bool:
    return info_of(value).region.on_chip


def _overwrites(op: Operation) -> bool:
    """True when an instruction starts an accumulation where nothing has been accumulated."""
    return (
        isinstance(op, NisaOp)
        and "accumulate" in op.SPEC.by_name
        and op.value_of("accumulate") is not True
    )


def _is_written(value: SSAValue, base: SSAValue, state: _Iteration) -> bool:
    if value in state.written and info_of(value).indirection is None:
        return True
    left = state.unwritten.get(base)
    if left is None:
        return False
    read = _bounding_rectangle(value, base)
    return not any(_meet(read, part) for part in left)


def _write(value: SSAValue, base: SSAValue, state: _Iteration) -> None:
    if info_of(value).indirection is not None:
        return
    state.written[value] = None
    left = state.unwritten.get(base)
    if left == () or not _is_rectangle(value, base):
        return
    cut = _bounding_rectangle(value, base)
    parts = (_whole(base),) if left is None else left
    remaining = tuple(piece for part in parts for piece in _without(part, cut))
    if len(remaining) <= MOST_RECTANGLES:
        state.unwritten[base] = remaining


def _whole(base: SSAValue) -> Rectangle:
    tile = info_of(base)
    return 0, tile.partitions, 0, tile.free_size * tile.dtype.bits


def _bounding_rectangle(value: SSAValue, base: SSAValue) -> Rectangle:
    """The smallest rectangle around a view; the whole tile where its address is not known."""
    whole, tile = _whole(base), info_of(value)
    if tile.indirection is not None:
        return whole
    bits = tile.dtype.bits
    elements = whole[3] // bits
    access = access_of(value)
    first, count = access.partition_range(elements)
    lowest, highest = access.free_range(elements)
    return first, first + count, lowest * bits, (highest + 1) * bits


def _is_rectangle(value: SSAValue, base: SSAValue) -> bool:
    """True when a view has every element of its bounding rectangle.

    In the order of their strides each free dimension must step over exactly what the ones below
    it fill, and the partition dimension over one partition.
    """
    access = access_of(value)
    row = _whole(base)[3] // info_of(value).dtype.bits
    if access.shape[0] > 1 and abs(access.strides[0]) != row:
        return False
    filled = 1
    dims = sorted(zip(access.strides[1:], access.shape[1:], strict=True), key=lambda d: abs(d[0]))
    for stride, count in dims:
        if count > 1:
            if abs(stride) != filled:
                return False
            filled *= count
    return True


def _meet(one: Rectangle, two: Rectangle) -> bool:
    return one[0] < two[1] and two[0] < one[1] and one[2] < two[3] and two[2] < one[3]


def _without(part: Rectangle, cut: Rectangle) -> Iterator[Rectangle]:
    """What is left of a rectangle without another: up to four rectangles."""
    if not _meet(part, cut):
        yield part
        return
    first, behind, low, high = part
    inner_first, inner_behind = max(first, cut[0]), min(behind, cut[1])
    yield from _if_any((first, inner_first, low, high))
    yield from _if_any((inner_behind, behind, low, high))
    yield from _if_any((inner_first, inner_behind, low, cut[2]))
    yield from _if_any((inner_first, inner_behind, cut[3], high))


def _if_any(rectangle: Rectangle) -> Iterable[Rectangle]:
    first, behind, low, high = rectangle
    return (rectangle,) if first < behind and low < high else ()
