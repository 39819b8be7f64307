"""`rename-tiles`: gives a tile that is completely overwritten a new allocation.

A buffer that is filled several times makes engines wait: a write must follow the last read of the
earlier contents. If each filling has its own allocation, writes do not wait, as far as memory
allows. Address assignment decides that: tiles that are not in use together can share addresses.

A tensor is split where nothing reads the earlier contents any more. This is computed exactly for
the cells into which views cut the tensor. The following are not split:

- tensors used in more than one block, or carried around a loop;
- tensors with a fixed address;
- tensors that index other tiles;
- tensors to which matmuls add depending on earlier writes (`resolve-accumulation` runs first).
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
from nkijit.dialects.nki.views import ViewOp, base_of, reach_of, uses_of, views_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import Cells, Extent, FewCells, Marks, cut, extent_of
from nkijit.passes.compile.analyses.accesses import Access
from nkijit.passes.compile.analyses.cache import Analyses

Origins = dict[Operation, Operation]
"""Maps each operation of a changed kernel to the operation of the original kernel."""


def rename_tiles(
    kernel: KernelOp,
    origins: Origins | None = None,
    only: Container[Operation] | None = None,
    analyses: Analyses | None = None,
) -> int:
    """Split the on-chip tensors of a kernel; returns the number of added allocations.

    Args:
        kernel: changed in place.
        origins: gets the new operations.
        only: the allocations to split; all by default.
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
    """The tiles of one tensor that an operation accesses."""

    op: Operation
    read: list[SSAValue]
    written: list[SSAValue]
    """The tiles that the operation overwrites completely."""


def _split(alloc: AllocOp, touched: Sequence[Access], target: Target, origins: Origins) -> int:
    """Split one tensor; returns the number of added allocations."""
    # A tensor that is written only once, like most, cannot be split.
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
    # In a loop, contents that are read before they are written come from the previous iteration.
    if carried and accesses[0].op.parent_block() is not alloc.parent_block():
        return 0
    for first, end in zip(starts, [*starts[1:], len(accesses)], strict=True):
        _rename(alloc, accesses[first:end], origins)
    return len(starts)


def _accesses(base: SSAValue, touched: Sequence[Access], target: Target) -> list[_Access] | None:
    """Return the accesses to a tensor in program order; None if it must not be split."""
    users: set[int] = set()
    for value in (base, *views_of(base)):
        for use in uses_of(value):
            if type(use.operation) is not ViewOp:
                users.add(id(use.operation))
            elif use.index != 0:
                return None  # it is the index of an indirect access
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
                # A partial write keeps some of the earlier contents, so it needs them.
                access.read.append(effect.value)
        found.append(access)
    return found


def _adds(op: Operation, target: Target) -> bool | None:
    """Whether an operation adds to the previous contents of the tile that it updates.

    None if that depends on earlier writes to the tile.
    """
    if not is_instruction(op):
        return True
    accumulation = accumulation_of(op, target)
    if accumulation is Accumulation.by_location:
        return None
    return accumulation is not Accumulation.overwrites


class _Needed:
    """In a backward walk: the cells of a tensor whose contents later instructions read."""

    def __init__(self, base: SSAValue, tiles: Iterable[SSAValue]):
        reach = reach_of(base)
        extents = {id(value): extent_of(value, reach) for value in tiles}
        cells = cut(reach, extents.values())
        self.exact = not isinstance(cells, Cells) or cells.exact
        self._needed = _Many(cells) if isinstance(cells, Cells) else _Few(cells)
        self._extents = extents

    def set(self, value: SSAValue, needed: bool) -> None:
        """Mark the cells of a tile as needed, or as not needed, at the current point."""
        extent = self._extents[id(value)]
        if needed:
            self._needed.add(extent)
        else:
            self._needed.remove(extent)

    @property
    def nothing(self) -> bool:
        """Whether no later instruction reads the tensor's current contents."""
        return not self._needed


class _Few:
    """A set of a tensor's cells as the bits of an integer, for few cells."""

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
    """A set of a tensor's cells as an array of marks, for many cells."""

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
    """Return the accesses before which a tensor holds nothing that later instructions read.

    The first result is their indices, without the first access. The second result is whether
    contents are needed before the first access. Returns None for tensors with too many cells to be
    exact.
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
    """Let all accesses in `accesses` use one new allocation."""
    base = alloc.result
    new: dict[int, SSAValue] = {}  # by identity: hashing a value costs a call
    copy = copied_before(alloc, accesses[0].op, new)
    origins[copy] = origins.get(alloc, alloc)
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
