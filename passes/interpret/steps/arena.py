"""The memory of a run's tiles: one arena, in which tiles lie by the time that they are in use.

Hardware gives tiles addresses that others have had before them; so does a plan. Time is the
position among the operations of the kernel's body; what a loop on the device touches is in use for
the whole loop. Arenas, and the arrays that point into them, are kept between calls, one of each
plan for each thread that runs it, so a warm call touches no new page.
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
"""Bytes; a line of the caches, and the widest vector of any CPU."""
MOST_WASTE = 1.1
"""The most that an arena may be of what is in use at a time, where tensors of a size take turns."""
POOLED_BYTES = 1 << 16
"""Bytes of a result from which on its memory is used again."""
KEPT_RESULTS = 1 << 28
"""Bytes of memory of results that are kept for others."""
MOST_LOOKED_AT = 16
"""Results of a size that are looked at for one that nobody holds."""
KEPT_BYTES = 1 << 30
"""Arenas of a thread are kept between calls while all of them together are no larger."""


@dataclass(slots=True)
class Lifetime:
    """When a tensor is in use, as positions in the kernel's body, both inclusive."""

    first: int
    last: int
    read_first: bool
    """Something might read it before it is written completely."""
    written: bool


def lifetimes(kernel: KernelOp, body: Body) -> dict[int, Lifetime]:
    """When each tensor is in use that an operation touches, by its slot.

    `body` has the operations of the kernel's body.
    """
    slots = body.slots
    found: dict[int, Lifetime] = {}
    fresh: dict[int, list[SSAValue]] = {}
    """What was written of tensors of which nothing was read so far."""
    loops = iter(body.inner)
    for position, (op, form) in enumerate(zip(body.ops, body.forms, strict=True)):
        # A loop's body may not run at all.
        certain = not op.regions and op.parent_op() is kernel
        touched = _of_loop(op, loops) if op.regions else reads_and_writes(op)
        overwrites = isinstance(form.record, Matmul) and form.record.previous is None
        # What an instruction reads, it reads before it writes.
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
    """What a loop touches, one instruction after the other; `loops` are the bodies that follow."""
    bodies = [body for _ in op.regions for body in next(loops).all()]
    return [pair for body in bodies for inner in body.ops for pair in reads_and_writes(inner)]


def _is_distinct(value: SSAValue) -> bool:
    """True when a tile has each of its elements once, at an address that is known."""
    info = info_of(value)
    return info.indirection is None and all(
        s != 0 or n == 1 for s, n in zip(info.strides, info.shape, strict=True)
    )


def _cover(tiles: Sequence[SSAValue], base: SSAValue) -> bool:
    """True when tiles together certainly are all of a tensor.

    It is looked at as a matrix as wide as the tiles' rows are apart, and each tile as a rectangle.
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
    """(bytes of a row, rows, bytes in a row) of a tile in a tensor of so many bytes."""
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
        # A stretch of bytes: a row of its own, unless it is all.
        return (total, (0, 1), (start, start + width))
    count, pitch = dims[1]
    row, column = divmod(start, pitch)
    if column + width > pitch or total % pitch:
        return None
    return (pitch, (row, row + count), (column, column + width))


def _is_all(parts: Sequence[tuple[int, int]], end: int) -> bool:
    """True when intervals together are everything from 0 to an end."""
    reached = 0
    for low, high in sorted(parts):
        if low > reached:
            return False
        reached = max(reached, high)
    return reached >= end


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where tensors lie in an arena."""

    offsets: Mapping[int, int]
    """The first byte of the tensor in each slot."""
    size: int
    """Bytes of the arena."""


def arrange(tensors: Iterable[tuple[int, int, Lifetime]]) -> Arrangement:
    """Place tensors, each a slot, bytes and the time that it is in use."""
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
    """Offsets such that blocks lie only where others of their size have been.

    Also returns the bytes of the arena, and the most that is in use at a time.
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
class MakesReady:
    """A step that puts into a tensor what memory holds that nothing has written."""

    slot: int
    elements: int
    value: Array
    """One element."""

    def __call__(self, env: Env) -> None:
        env[self.slot].view(self.value.dtype)[...] = self.value


def aligned(size: int) -> Array:
    """New memory of so many bytes, which begins with a line of the caches."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


def _holders(memory: Array) -> int:
    """How many objects refer to memory that `aligned` has made, which views of it do as well."""
    return sys.getrefcount(memory.base)


class ResultPool:
    """Memory of results, by size; new pages cost more than a kernel.

    Memory that nobody holds any more is used again. Python code that runs when a result comes to
    its end would swallow an interrupt, so holders are counted when memory is needed.
    """

    def __init__(self) -> None:
        self._made: dict[int, deque[Array]] = {}
        self._bytes = 0

    def take(self, size: int) -> Array:
        """Memory of so many bytes."""
        if size < POOLED_BYTES:
            return np.empty(size, np.uint8)
        made = self._made.setdefault(size, deque())
        for _ in range(min(len(made), MOST_LOOKED_AT)):
            try:
                memory = made.popleft()  # no other thread looks at it then
            except IndexError:
                break
            is_free = _holders(memory) == _UNUSED
            result = memory[:]
            made.append(memory)
            if is_free:
                return result
        memory = aligned(size)
        if self._bytes + size > KEPT_RESULTS:
            self._made.clear()
            self._bytes = 0
        if size <= KEPT_RESULTS:
            self._bytes += size
            self._made.setdefault(size, deque()).append(memory)
        return memory[:]


RESULTS = ResultPool()
"""That of the process."""
_UNUSED = _holders(aligned(ALIGNMENT))
"""Holders of memory of which there is no view."""


class _Kept:
    """Environments that runs in one thread have left behind."""

    def __init__(self) -> None:
        self._of: OrderedDict[ref[object], dict[int, tuple[Env, int]]] = OrderedDict()
        """By plan, then by rank, each with the bytes of its arena."""
        self._bytes = 0
        """Those of all arenas at least: more, when plans have come to their end."""
        # A callback of Python would swallow an interrupt, and any thread may be the one in which
        # a plan comes to its end.
        self._forget = partial(self._of.pop, default=None)

    def take(self, plan: object, rank: int) -> Env | None:
        """The environment of a plan and a rank, which is kept no more."""
        found = self._of.get(ref(plan), {}).pop(rank, None)
        if found is None:
            return None
        self._bytes -= found[1]
        return found[0]

    def give(self, plan: object, rank: int, env: Env, size: int) -> None:
        """Keep an environment; `size`: bytes of its arena."""
        self.take(plan, rank)
        kept = self._of.get(ref(plan))
        if kept is None:
            kept = self._of[ref(plan, self._forget)] = {}
        else:
            self._of.move_to_end(ref(plan))
        kept[rank] = env, size
        self._bytes += size
        if self._bytes > KEPT_BYTES:
            self._bytes = sum(
                size for ranks in list(self._of.values()) for _, size in ranks.values()
            )
        while self._bytes > KEPT_BYTES and self._of:
            _, ranks = self._of.popitem(last=False)
            self._bytes -= sum(size for _, size in ranks.values())


class _Workspaces(threading.local):
    """What runs have left behind in a thread: environments whose arrays point into an arena."""

    def __init__(self) -> None:
        kept = _Kept()
        # Who forgets a plan must not ask the local object: that is another one in each thread.
        self.take, self.give = kept.take, kept.give


WORKSPACES = _Workspaces()
"""Those of the current thread."""
