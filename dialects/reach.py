"""Memory outside an allocation that views of the allocation touch.

An access pattern may leave its allocation. On a device it then touches neighbouring memory: in HBM
before or after the tensor, on chip further on in the same partitions or in other partitions. nkijit
does not know the contents: reads find uninitialised memory, and writes are lost. `Reach` extends
the allocation by this memory, so that such views are analysed and run like all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.tiles import TileInfo

_GRAIN = 8
"""Memory beside an allocation is a multiple of this many bytes, so elements of every size fit."""


def rows_of(tile: TileInfo) -> tuple[int, int]:
    """Return the number of rows of an allocation and the bytes per row.

    Rows are partitions on chip; in HBM the allocation is one row.
    """
    if tile.region.on_chip:
        return tile.partitions, tile.partition_bytes
    return 1, tile.size * tile.dtype.itemsize


def span_of(allocation: TileInfo, view: TileInfo) -> tuple[range, range]:
    """Return the rows of an allocation, and the elements of each row, that a view touches.

    Both ranges cover gaps between touched elements. They may begin below 0 and end after the
    allocation. The view's address must be known.
    """
    access = view.pattern
    if not allocation.region.on_chip:
        lowest, highest = access.bounds
        return range(1), range(lowest, highest + 1)
    row = allocation.partition_bytes // view.dtype.itemsize
    first, count = access.partition_range(row)
    lowest, highest = access.columns(row)
    return range(first, first + count), range(lowest, highest + 1)


def leaves(allocation: TileInfo, view: TileInfo) -> bool:
    """True when a view touches elements outside its allocation.

    False for a view whose address is known only at run time: a bound of the indices keeps the view
    inside its allocation.
    """
    return _leaves(view, *rows_of(allocation))


def fills(allocation: TileInfo, view: TileInfo) -> bool:
    """True when a view certainly touches each element of its allocation."""
    if view is allocation:
        return True
    mine, whole = view.size * view.dtype.itemsize, allocation.size * allocation.dtype.itemsize
    if mine != whole or view.indirection is not None:
        return False
    return not leaves(allocation, view) and not view.pattern.repeats


def _leaves(view: TileInfo, count: int, size: int) -> bool:
    # Called for every view of every tensor: `span_of`, without creating ranges.
    if view.indirection is not None:
        return False
    low = high = view.offset
    row = size // view.dtype.itemsize
    strides, shape = view.strides, view.shape
    if view.region.on_chip:
        step = (shape[0] - 1) * (strides[0] // row)
        if low < 0:
            return True
        first, low = divmod(low, row)
        if first + step < 0 or first >= count or first + step >= count:
            return True
        high, strides, shape = low, strides[1:], shape[1:]
    for stride, n in zip(strides, shape, strict=True):
        if stride > 0:
            high += stride * (n - 1)
        else:
            low += stride * (n - 1)
    return low < 0 or high >= row


@dataclass(frozen=True, slots=True)
class Reach:
    """An allocation with the memory that its views touch around it, as rows of `pitch` bytes."""

    allocation: TileInfo
    rows: range
    """Row numbers, relative to the first row of the allocation; negative rows are before it."""
    columns: range
    """Byte numbers in each row, relative to the allocation's row; negative bytes are before it."""
    extended: bool
    """True when there are more rows or columns than in the allocation."""

    @staticmethod
    def of(allocation: TileInfo, views: Iterable[TileInfo]) -> Reach:
        """Return an allocation, extended by the outside memory that some of its views touch."""
        count, size = rows_of(allocation)
        first, last, low, high = 0, count, 0, size
        for view in views:
            if _leaves(view, count, size):
                rows, elements = span_of(allocation, view)
                item = view.dtype.itemsize
                first, last = min(first, rows.start), max(last, rows.stop)
                low, high = min(low, elements.start * item), max(high, elements.stop * item)
        extended = (first, last, low, high) != (0, count, 0, size)
        if extended:
            low -= low % _GRAIN
            high += (low - high) % _GRAIN
        return Reach(allocation, range(first, last), range(low, high), extended)

    @property
    def pitch(self) -> int:
        """Bytes from a row to the next one."""
        return len(self.columns)

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return len(self.rows) * len(self.columns)

    def place(self, access: AccessPattern, itemsize: int) -> AccessPattern:
        """Translate a pattern from addresses in the allocation to addresses in the extended memory.

        Args:
            access: counts elements of `itemsize` bytes from the start of the allocation; on chip
                its first dimension is the partition dimension.
            itemsize: bytes of an element.
        """
        if not self.extended:
            return access
        offset, strides = access.offset, access.strides
        first, pitch = 0, self.pitch // itemsize
        if self.allocation.region.on_chip:
            row = self.allocation.partition_bytes // itemsize
            first, offset = access.start(row)
            strides = (strides[0] // row * pitch, *strides[1:])
        offset += (first - self.rows.start) * pitch - self.columns.start // itemsize
        return AccessPattern(offset, strides, access.shape)

    def inside(self, itemsize: int) -> AccessPattern:
        """Return the pattern of the allocation within the extended memory, in elements of
        `itemsize` bytes.
        """
        count, size = rows_of(self.allocation)
        row = size // itemsize
        return self.place(AccessPattern(0, (row, 1), (count, row)), itemsize)

    def outside(self, itemsize: int) -> list[AccessPattern]:
        """Return the memory outside the allocation, as blocks of elements of `itemsize` bytes.

        Each block is a pattern of (rows, elements).
        """
        count, size = rows_of(self.allocation)
        pitch, all_rows = self.pitch // itemsize, len(self.rows)
        above, before = -self.rows.start, -self.columns.start // itemsize
        behind = before + size // itemsize
        blocks = (
            (0, above, 0, pitch),
            (above + count, all_rows, 0, pitch),
            (above, above + count, 0, before),
            (above, above + count, behind, pitch),
        )
        return [
            AccessPattern(top * pitch + left, (pitch, 1), (bottom - top, right - left))
            for top, bottom, left, right in blocks
            if bottom > top and right > left
        ]
