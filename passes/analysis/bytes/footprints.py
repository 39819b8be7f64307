"""The part of a tensor that each of its views covers, as sets of cells.

Analyses that track bytes store a mark (for example, written or not) for each byte. The views of a
kernel cut its tensors into far fewer parts. `Cells` numbers these parts so that a view is a strided
block of an array of marks, often a single element. The cells are exact: two views share a cell if
and only if they share a byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.nki.views import ViewOp, access_of, selectable
from nkijit.dialects.overlap import ascending, merged
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of

Marks = npt.NDArray[Any]
MOST_CELLS = 1 << 26
"""The largest number of cells of a tensor, as an array of marks must fit into memory.

Views that step through a huge tensor can need more cells.
"""
Terms = tuple[tuple[int, int], ...]


class Extent(NamedTuple):
    """A set of bytes: `low` plus, for each term, a multiple of its stride.

    A term is `(stride, count)` and means the multiples 0 to `count - 1`. Strides are positive,
    distinct and ascending; counts are above 1. Iterations of an unrolled loop cover the same sets
    at different offsets, so results that depend only on the terms are cached.
    """

    low: int
    terms: Terms

    @staticmethod
    def of(low: int, terms: Iterable[tuple[int, int]]) -> Extent:
        """Create the set for terms in any order and with strides of any sign."""
        lower, sorted_terms = _normal(tuple(terms))
        return Extent(low + lower, sorted_terms)

    @property
    def high(self) -> int:
        """The last byte of the set."""
        return self.low + _span(self.terms)

    @property
    def run(self) -> int:
        """The length in bytes of the contiguous runs that the set consists of."""
        return self.terms[0][1] if self.terms and self.terms[0][0] == 1 else 1

    @property
    def is_run(self) -> bool:
        """Whether the set is a single contiguous run of bytes."""
        return not self.terms or (len(self.terms) == 1 and self.terms[0][0] == 1)

    def part(self, marks: Marks) -> Marks:
        """Return a view of the marks of the set's bytes; `marks` has one per byte of the tensor."""
        size = marks.itemsize
        shape = tuple([count for _, count in self.terms])
        strides = tuple([stride * size for stride, _ in self.terms])
        return np.ndarray(shape, marks.dtype, marks, self.low * size, strides)

    def split(self, pitch: int) -> tuple[Extent, Extent] | None:
        """Split the set into a set of rows of `pitch` bytes and a set of bytes in each row.

        Returns None if different rows contain different bytes.
        """
        row, column = divmod(self.low, pitch)
        rows, columns = _rows_and_columns(self.terms, pitch)
        inside = Extent(column, columns)
        return None if inside.high >= pitch else (Extent(row, rows), inside)


@lru_cache(maxsize=4096)
def _normal(terms: Terms) -> tuple[int, Terms]:
    """Return the offset of the first byte and the terms, ascending and with positive strides."""
    lower, sorted_terms = ascending(0, terms)
    return lower, tuple(merged(sorted_terms))


@lru_cache(maxsize=4096)
def _span(terms: Terms) -> int:
    """Return the distance from the first to the last byte of a set."""
    return sum([stride * (count - 1) for stride, count in terms])


@lru_cache(maxsize=4096)
def _rows_and_columns(terms: Terms, pitch: int) -> tuple[Terms, Terms]:
    """Split terms into terms across rows of `pitch` bytes, counted in rows, and terms in a row."""
    rows: list[tuple[int, int]] = []
    columns: list[tuple[int, int]] = []
    for stride, count in terms:
        if stride % pitch == 0:
            rows.append((stride // pitch, count))
        elif stride * count > pitch and pitch % stride == 0 and stride * count % pitch == 0:
            columns.append((stride, pitch // stride))
            rows.append((1, stride * count // pitch))
        else:
            columns.append((stride, count))
    return _normal(tuple(rows))[1], _normal(tuple(columns))[1]


@lru_cache(maxsize=4096)
def _in_bytes(strides: tuple[int, ...], shape: tuple[int, ...], size: int) -> tuple[int, Terms]:
    """Return a pattern's bytes as (offset, terms); `size` is the size of an element.

    See `_normal`.
    """
    pairs = zip(strides, shape, strict=True)
    return _normal((*((stride * size, n) for stride, n in pairs), (1, size)))


def extent_of(
    value: SSAValue, reach: Reach | None = None, steps: tuple[int, int, int] | None = None
) -> Extent:
    """Return the bytes that a tile covers, or may cover for some index.

    Args:
        value: the tile.
        reach: the tensor's memory; the allocation alone by default.
        steps: restricts a scalar index: (first value, step, number of values).
    """
    tile = info_of(value)
    size = tile.dtype.itemsize
    if tile.indirection is None and (reach is None or not reach.extended):
        lower, terms = _in_bytes(tile.strides, tile.shape, size)
        return Extent(tile.offset * size + lower, terms)
    access = access_of(value) if reach is None else reach.place(access_of(value), size)
    owner, offset = value.owner, access.offset
    dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
    if dynamic is not None:
        first, step, count = steps or (0, 1, dynamic.bound)
        offset += first * dynamic.scale
        access = selectable(access, replace(dynamic, scale=step * dynamic.scale, bound=count))
    lower, terms = _in_bytes(access.strides, access.shape, size)
    return Extent(offset * size + lower, terms)


class Footprint(NamedTuple):
    """The cells of a view, as a strided block of an array with one mark per cell."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def part(self, marks: Marks) -> Marks:
        """Return the view's part of `marks`, an array over all cells, without a copy."""
        size = marks.itemsize
        strides = tuple([stride * size for stride in self.strides])
        return np.ndarray(self.shape, marks.dtype, marks, self.offset * size, strides)


class Cells:
    """The cells into which the views of a tensor cut the tensor."""

    def __init__(self, reach: Reach, extents: Sequence[Extent]):
        """
        Args:
            reach: the tensor's memory.
            extents: the bytes of each view that `footprint` may be called with.
        """
        # The grid has one row, the whole tensor, or the rows of one of its dimensions.
        size = reach.size
        grids = (_Grid.of(extents, size, pitch) for pitch in (size, *_pitches(reach)))
        self._grid = min([grid for grid in grids if grid is not None], key=lambda g: g.cells)
        self.exact = self._grid.cells <= MOST_CELLS
        """True if the cells are exact.

        False if there would be more than `MOST_CELLS`: one cell then represents the whole tensor.
        """
        self.count = self._grid.cells if self.exact else 1
        """The number of cells of the tensor."""

    def footprint(self, extent: Extent) -> Footprint:
        """Return the cells of one of the extents passed to the constructor."""
        return self._grid.locate(extent) if self.exact else Footprint(0, (), ())


@dataclass(frozen=True, slots=True)
class FewCells:
    """The cells of a tensor with few cells, in lists, which are faster than short arrays."""

    count: int
    numbers: dict[Extent, list[int]]
    """The numbers of the cells of each extent."""
    bits: dict[Extent, int]
    """The cells of each extent as the bits of an integer."""


FEW = 64
"""The largest number of cells that are stored in lists instead of arrays."""


def cut(reach: Reach, extents: Iterable[Extent]) -> Cells | FewCells:
    """Compute the cells into which views cut a tensor; see `Cells`."""
    distinct = tuple(dict.fromkeys(extents))
    if len(distinct) > FEW:
        return Cells(reach, distinct)
    return _cut(reach, distinct)


@lru_cache(maxsize=1024)
def _cut(reach: Reach, extents: tuple[Extent, ...]) -> Cells | FewCells:
    # Cached: iterations of an unrolled loop have tensors of their own with equal cells.
    cells = Cells(reach, extents)
    if not cells.exact or cells.count > FEW:
        return cells
    number = np.arange(cells.count)
    numbers = {extent: cells.footprint(extent).part(number).ravel().tolist() for extent in extents}
    bits = {extent: sum(1 << n for n in cells) for extent, cells in numbers.items()}
    return FewCells(cells.count, numbers, bits)


def _pitches(reach: Reach) -> list[int]:
    """Return row sizes in bytes into which `_Grid` can divide a tensor, the largest first."""
    if reach.extended:
        return [reach.pitch]
    info = reach.allocation
    inner = [math.prod(info.shape[dim:]) * info.dtype.itemsize for dim in range(1, len(info.shape))]
    return list(dict.fromkeys(pitch for pitch in inner if pitch > 1))


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a tensor that is divided into rows of `pitch` bytes, all with equal cells."""

    rows: _Line
    columns: _Line
    pitch: int

    @staticmethod
    def of(extents: Sequence[Extent], size: int, pitch: int) -> _Grid | None:
        pairs = [extent.split(pitch) for extent in extents]
        parts = [pair for pair in pairs if pair is not None]
        if len(parts) < len(pairs):
            return None
        rows = _Line.of([row for row, _ in parts], size // pitch)
        return _Grid(rows, _Line.of([column for _, column in parts], pitch), pitch)

    @property
    def cells(self) -> int:
        return self.rows.cells * self.columns.cells

    def locate(self, extent: Extent) -> Footprint:
        parts = extent.split(self.pitch)
        assert parts is not None
        row, down = self.rows.locate(parts[0])
        column, along = self.columns.locate(parts[1])
        width = self.columns.cells
        terms = (*[(stride * width, count) for stride, count in down], *along)
        offset = row * width + column
        return Footprint(offset, tuple([n for _, n in terms]), tuple([s for s, _ in terms]))


@dataclass(frozen=True, slots=True)
class _Line:
    """The division of consecutive bytes, or of consecutive rows, into cells.

    If all extents are runs, cells begin and end where extents do; otherwise all cells have the size
    `unit`.
    """

    cells: int
    unit: int
    cuts: dict[int, int] | None

    @staticmethod
    def of(extents: Sequence[Extent], length: int) -> _Line:
        if all(extent.is_run for extent in extents):
            ends = {0, length}
            for extent in extents:
                ends.add(extent.low)
                ends.add(extent.high + 1)
            return _Line(len(ends) - 1, 0, {cut: n for n, cut in enumerate(sorted(ends))})
        unit = length
        for extent in extents:
            strides = [stride for stride, _ in extent.terms if stride != 1]
            unit = math.gcd(unit, extent.low, extent.run, *strides)
        return _Line(length // unit, unit, None)

    def locate(self, extent: Extent) -> tuple[int, Terms]:
        if self.cuts is not None:
            first = self.cuts[extent.low]
            return first, ((1, self.cuts[extent.high + 1] - first),)
        unit = self.unit
        terms = tuple([(s // unit, n) for s, n in extent.terms if s != 1])
        run = extent.run // unit
        return extent.low // unit, terms if run == 1 else (*terms, (1, run))
