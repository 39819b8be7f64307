"""The memory of a run's tiles: an arena in which tiles with disjoint lifetimes share memory.

Lifetimes are positions among the operations of the kernel's body. A tensor that a loop on the
device accesses is in use during the whole loop. Between calls, each thread caches one arena per
plan and rank, with the arrays that point into the arena. So a warm call touches no new page.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from weakref import ref

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import access_of, base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.records import Matmul
from nkijit.passes.interpret.steps.body import Body

ALIGNMENT = 64
"""The alignment of tensors in bytes: a cache line, and the widest vector of any CPU."""
MOST_WASTE = 1.1
"""The largest ratio of arena size to peak use at which only tensors of equal size share memory.

At larger ratios, tensors of different sizes share memory, too.
"""
POOLED_BYTES = 1 << 16
"""Results of at least this many bytes are allocated from memory that is reused."""
RETAINED_BYTES = 1 << 28
"""The largest number of bytes that are retained for results."""
MOST_CHECKED = 16
"""The largest number of retained results of a size that are checked for being free."""
CACHED_BYTES = 1 << 30
"""The largest number of bytes of arenas that a thread caches between calls."""


@dataclass(slots=True)
class Lifetime:
    """The positions in the kernel's body between which a tensor is in use, both inclusive."""

    first: int
    last: int
    read_first: bool
    """True if the tensor may be read before it is completely written."""
    written: bool


def lifetimes(kernel: KernelOp, body: Body) -> dict[int, Lifetime]:
    """Return the lifetimes of the tensors that operations access, by slot.

    `body` has the operations of the kernel's body.
    """
    slots = body.slots
    found: dict[int, Lifetime] = {}
    fresh: dict[int, list[SSAValue]] = {}
    """For each tensor that has not been read yet, the tiles that were written."""
    loops = iter(body.inner)
    for position, (op, form) in enumerate(zip(body.ops, body.forms, strict=True)):
        # The body of a loop may not run at all.
        certain = not op.regions and op.parent_op() is kernel
        touched = _of_loop(op, loops) if op.regions else reads_and_writes(op)
        overwrites = isinstance(form.record, Matmul) and form.record.previous is None
        # An instruction reads before it writes.
        for writes in (False, True) if certain else (False,):
            for value, role in touched:
                if certain and (role is Role.write) is not writes:
                    continue
                base = base_of(value)
                slot = slots.base(base)
                life = found.get(slot)
                if life is None:
                    life = found[slot] = Lifetime(position, position, True, False)
                    fresh[slot] = []
                life.last = position
                if role is not Role.read:
                    life.written = True
                tiles = fresh.get(slot)
                if tiles is None:
                    continue
                writes_only = role is Role.write or (role is Role.update and overwrites)
                if certain and writes_only and value is base:
                    life.read_first = False
                    del fresh[slot]
                elif certain and writes_only and _is_distinct(value):
                    tiles.append(value)
                else:
                    life.read_first = not _cover(tiles, base)
                    del fresh[slot]
    for slot, tiles in fresh.items():
        found[slot].read_first = not _cover(tiles, base_of(tiles[0]))
    return found


def _of_loop(op: Operation, loops: Iterator[Body]) -> Sequence[tuple[SSAValue, Role]]:
    """Return the accesses of a loop, in order; `loops` has the loop's bodies."""
    bodies = [body for _ in op.regions for body in next(loops).all()]
    return [pair for body in bodies for inner in body.ops for pair in reads_and_writes(inner)]


def _is_distinct(value: SSAValue) -> bool:
    """True if a tile has a known address and contains each element once."""
    info = info_of(value)
    return info.indirection is None and all(
        s != 0 or n == 1 for s, n in zip(info.strides, info.shape, strict=True)
    )


def _cover(tiles: Sequence[SSAValue], base: SSAValue) -> bool:
    """True if the tiles together certainly cover a tensor.

    The tensor is treated as a matrix whose width is the tiles' row pitch, and each tile as a
    rectangle.
    """
    info = info_of(base)
    itemsize = info.dtype.itemsize
    total = info.size * itemsize
    by_columns: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for tile in tiles:
        rectangle = _rectangle(tile, total)
        if rectangle is None:
            continue
        pitch, rows, columns = rectangle
        if columns[1] - columns[0] == pitch and rows[1] - rows[0] == total // pitch:
            return True
        by_columns.setdefault((pitch, *columns), []).append(rows)
    whole: dict[int, list[tuple[int, int]]] = {}
    for (pitch, low, high), rows in by_columns.items():
        if _is_all(rows, total // pitch):
            whole.setdefault(pitch, []).append((low, high))
    return any(_is_all(columns, pitch) for pitch, columns in whole.items())


def _rectangle(tile: SSAValue, total: int) -> tuple[int, tuple[int, int], tuple[int, int]] | None:
    """Return a tile of a tensor of `total` bytes as (pitch, rows, bytes in a row).

    Rows and bytes are ranges (first, end). None if the tile is not a rectangle.
    """
    info = info_of(tile)
    size = info.dtype.itemsize
    dims: list[tuple[int, int]] = [(1, size)]
    by_stride = sorted(
        (s * size, n) for s, n in zip(info.strides, info.shape, strict=True) if n > 1
    )
    for stride, count in by_stride:
        inner, inner_stride = dims[-1]
        if stride == inner * inner_stride:
            dims[-1] = inner * count, inner_stride
        else:
            dims.append((count, stride))
    if (by_stride and by_stride[0][0] < 0) or len(dims) > 2:
        return None
    width = dims[0][0] * dims[0][1]
    start = access_of(tile).offset * size
    if len(dims) == 1:
        # A contiguous region of bytes: one row, with the tensor as a single row.
        return (total, (0, 1), (start, start + width))
    count, pitch = dims[1]
    row, column = divmod(start, pitch)
    if column + width > pitch or total % pitch:
        return None
    return (pitch, (row, row + count), (column, column + width))


def _is_all(parts: Sequence[tuple[int, int]], end: int) -> bool:
    """True if the intervals cover everything from 0 to `end`."""
    reached = 0
    for low, high in sorted(parts):
        if low > reached:
            return False
        reached = max(reached, high)
    return reached >= end


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The offsets of tensors in an arena."""

    offsets: Mapping[int, int]
    """The offset of each tensor in bytes, by the tensor's slot."""
    size: int
    """The size of the arena in bytes."""


def arrange(tensors: Iterable[tuple[int, int, Lifetime]]) -> Arrangement:
    """Assign offsets to tensors, which are given as (slot, size in bytes, lifetime)."""
    blocks = [
        (slot, -(-size // ALIGNMENT) * ALIGNMENT, life.first, life.last)
        for slot, size, life in tensors
    ]
    offsets, size, most = _by_size(blocks)
    if size > most * MOST_WASTE:
        layout = assign(
            [Block(first, last, size, 128, align=ALIGNMENT) for _, size, first, last in blocks],
            Space(sys.maxsize),
            quick=True,
        )
        places = zip(blocks, layout.addresses, strict=True)
        offsets, size = {slot: at for (slot, *_), (_, at) in places}, layout.height
    return Arrangement(offsets, size)


def _by_size(blocks: Sequence[tuple[int, int, int, int]]) -> tuple[dict[int, int], int, int]:
    """Assign offsets so that a block reuses only the memory of an earlier block of equal size.

    Returns the offsets, the bytes of the arena, and the peak of the bytes in use.
    """
    free: dict[int, list[int]] = {}
    ends: list[tuple[int, int, int]] = []
    offsets: dict[int, int] = {}
    top = used = most = 0
    for slot, size, first, last in sorted(blocks, key=lambda block: block[2]):
        while ends and ends[0][0] < first:
            _, ended, at = heappop(ends)
            free.setdefault(ended, []).append(at)
            used -= ended
        others = free.get(size)
        if others:
            at = others.pop()
        else:
            at, top = top, top + size
        offsets[slot] = at
        used += size
        most = max(most, used)
        heappush(ends, (last, size, at))
    return offsets, top, most


@dataclass(frozen=True, slots=True)
class FillUnwritten:
    """A step that fills a tensor with the value of unwritten elements."""

    slot: int
    elements: int
    value: Array
    """The value of unwritten elements, as an array."""

    def __call__(self, env: Env) -> None:
        env[self.slot].view(self.value.dtype)[...] = self.value


def aligned(size: int) -> Array:
    """Return new memory of `size` bytes that begins at a cache line."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


def _holders(memory: Array) -> int:
    """Return the number of references to memory created by `aligned`, including by views."""
    return sys.getrefcount(memory.base)


class ResultPool:
    """Memory for results, by size. It is reused because new pages cost more time than a kernel.

    Memory without references is reused. References are counted when memory is requested: `__del__`,
    or a callback on release, would swallow a KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self._memories: dict[int, deque[Array]] = {}
        self._bytes = 0

    def take(self, size: int) -> Array:
        """Return memory of `size` bytes."""
        if size < POOLED_BYTES:
            return np.empty(size, np.uint8)
        memories = self._memories.setdefault(size, deque())
        for _ in range(min(len(memories), MOST_CHECKED)):
            try:
                memory = memories.popleft()  # no other thread can take it at the same time
            except IndexError:
                break
            is_free = _holders(memory) == _UNUSED
            result = memory[:]
            memories.append(memory)
            if is_free:
                return result
        memory = aligned(size)
        if self._bytes + size > RETAINED_BYTES:
            self._memories.clear()
            self._bytes = 0
        if size <= RETAINED_BYTES:
            self._bytes += size
            self._memories.setdefault(size, deque()).append(memory)
        return memory[:]


RESULTS = ResultPool()
"""The pool of the process."""
_UNUSED = _holders(aligned(ALIGNMENT))
"""The number of references to memory that has no views."""


class _EnvironmentCache:
    """The environments of completed runs that a thread has cached."""

    def __init__(self) -> None:
        self._of: OrderedDict[ref[object], dict[int, tuple[Env, int]]] = OrderedDict()
        """For each plan and rank, the environment and the size of its arena in bytes."""
        self._bytes = 0
        """An upper bound of the size of all arenas in bytes, including arenas of released plans."""
        # A C function: a Python callback would swallow a KeyboardInterrupt. Plans can be released
        # in any thread.
        self._forget = partial(self._of.pop, default=None)

    def take(self, plan: object, rank: int) -> Env | None:
        """Remove and return the environment of a plan and a rank."""
        found = self._of.get(ref(plan), {}).pop(rank, None)
        if found is None:
            return None
        self._bytes -= found[1]
        return found[0]

    def give(self, plan: object, rank: int, env: Env, size: int) -> None:
        """Cache an environment whose arena has `size` bytes."""
        self.take(plan, rank)
        by_rank = self._of.get(ref(plan))
        if by_rank is None:
            by_rank = self._of[ref(plan, self._forget)] = {}
        else:
            self._of.move_to_end(ref(plan))
        by_rank[rank] = env, size
        self._bytes += size
        if self._bytes > CACHED_BYTES:
            self._bytes = sum(
                size for ranks in list(self._of.values()) for _, size in ranks.values()
            )
        while self._bytes > CACHED_BYTES and self._of:
            _, ranks = self._of.popitem(last=False)
            self._bytes -= sum(size for _, size in ranks.values())


class _Workspaces(threading.local):
    """The cached environments of the current thread, each with its arena."""

    def __init__(self) -> None:
        cache = _EnvironmentCache()
        # Callbacks that forget a plan must not use this object, which differs between threads.
        self.take, self.give = cache.take, cache.give


WORKSPACES = _Workspaces()
"""The workspaces of the current thread."""
