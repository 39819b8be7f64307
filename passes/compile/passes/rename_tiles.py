"""`rename-tiles`: a tile whose contents nobody needs any more becomes another tile.

A buffer that is filled again and again makes engines wait for each other: the next contents may
come only when the last ones have been read. In other tiles they need not wait, as long as there is
memory, which is for allocation to say: tiles that are not in use together share addresses.

A tensor is split where nothing that was written before is read any more. That is told exactly, in
cells that no view cuts. Left alone are tensors that more than one block of the program uses or
that a loop carries around, that have an address from the author, that index others, and that
matmuls add to by what has been written before (`resolve-accumulation` comes first).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.creation import copied_before
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of, reach_of, views_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import Cells, Extent, FewCells, Marks, cut, extent_of
from nkijit.passes.compile.analyses.accesses import Access
from nkijit.passes.compile.analyses.cache import Analyses

Origins = dict[Operation, Operation]
"""The operation that each operation of a changed kernel is a copy of."""


def rename_tiles(
    kernel: KernelOp,
    origins: Origins | None = None,
    only: Container[Operation] | None = None,
    analyses: Analyses | None = None,
) -> int:
    """Split the on-chip tensors of a kernel; returns how many tiles were added.

    `origins` gets those of the new operations. `only`: the allocations that are split; all of them
    by default. `analyses`: what is known of the kernel.
    """
    origins = {} if origins is None else origins
    analyses = analyses or Analyses(kernel)
    accesses = analyses.accesses
    added = 0
    for op in cast(list[AllocOp], analyses.of_kind.get(AllocOp, ())):
        if only is None or op in only:
            added += _split(op, accesses.get(op.result, ()), kernel.target, origins)
    if added:
        analyses.changed()
    return added


@dataclass(slots=True)
class _Access:
    """What an operation does with a tensor."""

    op: Operation
    read: list[SSAValue]
    written: list[SSAValue]
    """The tiles that it overwrites, all of their elements."""


def _split(alloc: AllocOp, touched: Sequence[Access], target: Target, origins: Origins) -> int:
    """Split one tensor; returns how many tiles were added."""
    # What is written once only, as most tiles are, cannot be split.
    if len(touched) < 3 or not any(access.writes for access in touched[1:]):
        return 0
    if not info_of(alloc.result).region.on_chip or alloc.fixed_address is not None:
        return 0
    accesses = _accesses(alloc.result, touched, target)
    if accesses is None:
        return 0
    found = _unneeded(alloc.result, accesses)
    if found is None or not found[0]:
        return 0
    starts, carried = found
    # What a loop reads before it writes it comes from the iteration before.
    if carried and accesses[0].op.parent_block() is not alloc.parent_block():
        return 0
    for first, end in zip(starts, [*starts[1:], len(accesses)], strict=True):
        _rename(alloc, accesses[first:end], origins)
    return len(starts)


def _accesses(base: SSAValue, touched: Sequence[Access], target: Target) -> list[_Access] | None:
    """The accesses to a tensor in the order of the program; None if it is to be left alone."""
    users: set[int] = set()
    for value in (base, *views_of(base)):
        use = value.first_use
        while use is not None:
            user = use.operation
            if type(user) is not ViewOp:
                users.add(id(user))
            elif use.index != 0:
                return None  # it says where another tile is
            use = use._next_use  # pyright: ignore[reportPrivateUsage]
    block = touched[0].op.parent
    if len(users) != len(touched) or any(access.op.parent is not block for access in touched):
        return None
    found: list[_Access] = []
    for one in touched:
        access = _Access(one.op, [], [])
        adds = _adds(one.op, target)
        for effect in one.effects:
            if effect.role is Role.update and adds is None:
                return None
            writes = effect.role is Role.write or (effect.role is Role.update and adds is False)
            if writes and not effect.partial and info_of(effect.value).indirection is None:
                access.written.append(effect.value)
            else:
                # What is left as it was of a tile that is written in part is needed.
                access.read.append(effect.value)
        found.append(access)
    return found


def _adds(op: Operation, target: Target) -> bool | None:
    """Whether an operation adds to what it updates; None where it depends on what is there."""
    if not is_instruction(op):
        return True
    accumulation = accumulation_of(op, target)
    if accumulation is Accumulation.by_location:
        return None
    return accumulation is not Accumulation.overwrites


class _Needed:
    """The cells of a tensor whose contents are needed, on the way back through a program."""

    def __init__(self, base: SSAValue, tiles: Iterable[SSAValue]):
        reach = reach_of(base)
        extents = {id(value): extent_of(value, reach) for value in tiles}
        cells = cut(reach, extents.values())
        self.exact = not isinstance(cells, Cells) or cells.exact
        self._needed = _Many(cells) if isinstance(cells, Cells) else _Few(cells)
        self._extents = extents

    def set(self, value: SSAValue, needed: bool) -> None:
        """From here back, what a tile holds is needed, or not."""
        extent = self._extents[id(value)]
        if needed:
            self._needed.add(extent)
        else:
            self._needed.remove(extent)

    @property
    def nothing(self) -> bool:
        """No content is needed."""
        return not self._needed


class _Few:
    """A set of cells out of few: a number of which they are the bits."""

    def __init__(self, cells: FewCells):
        self._bits_of = cells.bits
        self._bits = 0

    def add(self, extent: Extent) -> None:
        self._bits |= self._bits_of[extent]

    def remove(self, extent: Extent) -> None:
        self._bits &= ~self._bits_of[extent]

    def __len__(self) -> int:
        return self._bits.bit_count()


class _Many:
    """A set of cells out of so many that marks in an array are faster."""

    def __init__(self, cells: Cells):
        self._cells = cells
        self._marks = np.zeros(cells.count, np.bool_)
        self._count = 0
        self._known: dict[Extent, Marks] = {}

    def _part(self, extent: Extent) -> Marks:
        part = self._known.get(extent)
        if part is None:
            part = self._known[extent] = self._cells.footprint(extent).part(self._marks)
        return part

    def add(self, extent: Extent) -> None:
        part = self._part(extent)
        self._count += part.size - int(part.sum())
        part[...] = True

    def remove(self, extent: Extent) -> None:
        part = self._part(extent)
        self._count -= int(part.sum())
        part[...] = False

    def __len__(self) -> int:
        return self._count


def _unneeded(base: SSAValue, accesses: Sequence[_Access]) -> tuple[list[int], bool] | None:
    """Before which accesses nothing of a tensor is needed; ascending, without the first.

    Also whether something is needed before the first. None for tensors that are cut too finely.
    """
    tiles = {id(value): value for a in accesses for value in (*a.read, *a.written)}
    needed = _Needed(base, tiles.values())
    if not needed.exact:
        return None
    found: list[int] = []
    for number in range(len(accesses) - 1, -1, -1):
        access = accesses[number]
        for value in access.written:
            needed.set(value, False)
        for value in access.read:
            needed.set(value, True)
        if number and needed.nothing:
            found.append(number)
    return found[::-1], not needed.nothing


def _rename(alloc: AllocOp, accesses: Sequence[_Access], origins: Origins) -> None:
    """Let some accesses use a tensor of their own."""
    base = alloc.result
    new: dict[int, SSAValue] = {}  # by identity, as hashing a value is a call
    made = copied_before(alloc, accesses[0].op, new)
    origins[made] = origins.get(alloc, alloc)
    for access in accesses:
        op = access.op
        for number, value in enumerate(op.operands):
            if base_of(value) is not base:
                continue
            if id(value) not in new:
                view = cast(ViewOp, value.owner)
                other = copied_before(view, op, new)
                origins[other] = origins.get(view, view)
            op.operands[number] = new[id(value)]
