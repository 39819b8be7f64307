"""The parts of one tensor that have been written, during a walk over its kernel.

The state of a tensor has two sets: bytes that have certainly been written, and bytes that may have
been. Views are interned, so a look-up of the view answers most queries. The tensor's cells
(`footprints.py`) are needed only if reads divide the tensor differently than writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.scf import ForOp
from xdsl.ir import BlockArgument, SSAValue

from nkijit.dialects.nki.views import (
    ViewOp,
    access_of,
    index_of,
    leaves_its_tensor,
    reach_of,
    views_of,
)
from nkijit.dialects.reach import Reach, leaves
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import (
    Cells,
    Extent,
    FewCells,
    Footprint,
    cut,
    extent_of,
)
from nkijit.passes.analysis.flow.ranges import constant_range

Mask = npt.NDArray[np.bool_]

REPORTED_EXACTLY = 1 << 26
"""The size in bytes of the largest tensor for which the unwritten elements are reported."""


@dataclass(slots=True, eq=False)
class Scope:
    """The scope in which a write is certain: the body of a loop that might not run."""

    closed: bool = False
    """True if the loop has ended: writes in the loop are not certain from here on."""


_CLOSED = Scope(closed=True)


class Memory:
    """The memory of a tensor, and the bytes of that memory that each tile covers.

    Everything is computed when first used, and shared by the analyses of a kernel.
    """

    # A kernel has as many tensors as instructions.
    __slots__ = ("_cells", "_extended", "_extents", "_reach", "names")

    def __init__(self, base: SSAValue):
        self.names: tuple[SSAValue, ...] = (base,)
        """The values that denote the tensor in the kernels of all cores."""
        self._extents: dict[int, Extent] | None = None
        self._reach: Reach | None = None
        self._extended: bool | None = None
        self._cells: Cells | FewCells | None = None

    @property
    def reach(self) -> Reach:
        """The address range of the tensor, extended by views of any core that reach beyond it."""
        if self._reach is None:
            self._reach = reach_of(*self.names)
        return self._reach

    @property
    def extended(self) -> bool:
        """Whether views reach beyond the tensor; faster to compute than `reach`."""
        if self._extended is None:
            own = info_of(self.names[0])
            self._extended = any(
                leaves(own, info_of(view)) for base in self.names for view in views_of(base)
            )
        return self._extended

    @property
    def cells(self) -> Cells | FewCells:
        """The cells into which the views of all cores cut the memory."""
        if self._cells is None:
            values = [value for base in self.names for value in (base, *views_of(base))]
            self._cells = cut(self.reach, map(self.extent, values))
        return self._cells

    def extent(self, value: SSAValue) -> Extent:
        """Return the bytes that a tile covers, or may cover."""
        known = self._extents
        if known is None:
            known = self._extents = {}
        # By identity: hashing a value costs a call.
        extent = known.get(id(value))
        if extent is None:
            extent = known[id(value)] = extent_of(value, self.reach, steps_of(value))
        return extent


class Memories:
    """The memories of the tensors of one kernel."""

    def __init__(self) -> None:
        self._known: dict[int, Memory] = {}

    def of(self, base: SSAValue) -> Memory:
        """Return the memory of an allocation or an argument."""
        memory = self._known.get(id(base))
        if memory is None:
            memory = self._known[id(base)] = Memory(base)
        return memory


class _Bits:
    """The written cells of a tensor with few cells, as the bits of integers."""

    def __init__(self, cells: FewCells, tensor: Extent):
        self._cells = cells.bits
        self._tensor = cells.bits[tensor]
        self._may = self._must = 0
        self._open: dict[Scope, int] = {}
        """For each open scope, the cells that are certainly written in it besides `_must`."""

    def write(self, extent: Extent, scope: Scope | None, certain: bool) -> None:
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
    """The written cells of a tensor with many cells, as arrays."""

    def __init__(self, cells: Cells, tensor: Extent, extended: bool):
        self._cells = cells
        self._must, self._may = (np.zeros(cells.count, np.bool_) for _ in range(2))
        self._open: dict[Scope, Mask] = {}
        """For each open scope, the cells that are certainly written in it besides `_must`."""
        self._tensor: Mask | None = None
        """The cells of the tensor itself, if views reach beyond it; other cells are unwritten."""
        if extended:
            self._tensor = np.zeros(cells.count, np.bool_)
            cells.footprint(tensor).part(self._tensor)[...] = True

    def write(self, extent: Extent, scope: Scope | None, certain: bool) -> None:
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
    """A tensor with too many cells to track."""

    def write(self, extent: Extent, scope: Scope | None, certain: bool) -> None:
        pass

    def state_of(self, extent: Extent) -> _State:
        return _State(False, True, True)


class _State(NamedTuple):
    """Whether the elements of a tile have been written."""

    certainly: bool
    """True if all elements of the tile have certainly been written."""
    perhaps: bool
    """True if all elements of the tile may have been written."""
    some: bool
    """True if some element of the tile may have been written."""


_S = TypeVar("_S")


def _still_open(found: dict[Scope, _S]) -> Iterable[Scope]:
    """Return the scopes that have not ended, and remove the others from `found`."""
    for scope in [scope for scope in found if scope.closed]:
        del found[scope]
    return found


class WrittenTensor:
    """The parts of one allocation that have been written, as seen by one core."""

    # A kernel has as many tensors as instructions; most are written and read as a whole.
    __slots__ = (
        *("_complete", "_entries", "_learnt", "_marked", "_marks", "_possible", "_touched"),
        *("_touching", "base", "known", "memory"),
    )

    def __init__(self, memory: Memory, base: SSAValue):
        self.base = base
        self.memory = memory
        self.known: dict[int, Scope | None] = {}
        """The tiles, by `id`, that are certainly written, each with the scope in which this holds.

        The scope None reaches to the end of the program.
        """
        self._entries: list[tuple[SSAValue, Scope | None, bool]] = []
        """All writes: (tile, scope, whether all of the tile is written if the scope runs)."""
        self._possible: set[Extent] | None = None
        """The extents of the writes that are not certain."""
        self._complete: list[Scope | None] = []
        """The scopes in which the whole memory was written."""
        self._marks: _Bits | _Masks | _Unknown | None = None
        self._marked = 0
        """The number of `_entries` that are included in `_marks`."""
        self._touched: Mask | None = None
        self._touching = 0
        """The number of `_entries` that are included in `_touched`."""
        self._learnt: dict[WrittenTensor, int] | None = None

    def knows(self, value: SSAValue) -> bool:
        """Whether a tile is known to be written, without a comparison of cells."""
        complete = self._complete
        while complete:
            scope = complete[-1]
            if scope is None or not scope.closed:
                return True
            complete.pop()
        scope = self.known.get(id(value), _CLOSED)
        return scope is None or not scope.closed

    def write(self, value: SSAValue, scope: Scope | None, certain: bool) -> None:
        """Record a write of a tile; with `certain`, all of its elements are written."""
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
        if value is self.base or self.memory.extended:
            return not self.memory.extended
        reach = self.memory.reach
        if _bytes_of(value) < reach.size and index_of(value) is None:
            return False
        extent = self.memory.extent(value)
        return extent.low == 0 and extent.is_run and extent.run == reach.size

    def note(self, value: SSAValue, scope: Scope | None) -> None:
        """Record that a tile is certainly written within a scope (a loop that may not run)."""
        if not (self.memory.extended and leaves_its_tensor(value)):
            self.known[id(value)] = scope

    def learn(self, other: WrittenTensor) -> None:
        """Record the certain writes of another core to the same memory."""
        if self._learnt is None:
            self._learnt = {}
        start = self._learnt.get(other, 0)
        self._learnt[other] = end = len(other._entries)
        for value, scope, certain in other._entries[start:end]:
            if certain and scope is None:
                self.write(value, None, True)

    def state_of(self, value: SSAValue) -> _State:
        """Return whether a tile has been written, certainly or possibly."""
        marks, extent = self._marks, self.memory.extent
        if marks is None:
            cells, tensor = self.memory.cells, extent(self.base)
            if isinstance(cells, FewCells):
                marks = _Bits(cells, tensor)
            elif cells.exact:
                marks = _Masks(cells, tensor, self.memory.extended)
            else:
                marks = _Unknown()
            self._marks = marks
        for written, scope, certain in islice(self._entries, self._marked, None):
            marks.write(extent(written), scope, certain)
        self._marked = len(self._entries)
        return marks.state_of(extent(value))

    def missing(self, value: SSAValue) -> Mask:
        """Return a mask of the elements of a tile of which a byte is certainly unwritten."""
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
    """Return the number of bytes of a tile's elements; repeated elements count each time."""
    tile = info_of(value)
    return tile.size * tile.dtype.itemsize


def steps_of(value: SSAValue) -> tuple[int, int, int] | None:
    """Return the values of the induction variable that indexes a tile: (first, step, count).

    None for tiles that no induction variable with constant bounds indexes.
    """
    index = index_of(value)
    loop = index.block.parent_op() if type(index) is BlockArgument else None
    if type(loop) is not ForOp:
        return None
    values, owner = constant_range(loop), value.owner
    dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
    if dynamic is None or values is None or values.start < 0:
        return None
    count = len(range(values.start, min(values.stop, dynamic.bound), values.step))
    return (values.start, values.step, count) if count else None
