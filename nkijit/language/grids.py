"""Tensors as grids of tiles, and as grids of blocks of tiles.

A grid is a view: it divides a tensor into tiles and returns parts of it as tensors. Grids depend
only on shapes that are known during tracing, so the IR does not contain grids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self, TypeVar, cast

from nkijit.dialects.access import MAX_ELEMENTS
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import as_index, numbers_in, one_line
from nkijit.dialects.spelling import numbered
from nkijit.language.creation import allocate, like
from nkijit.language.tile_size import tile_size
from nkijit.tracing.annotations import DTypeLike
from nkijit.tracing.checks import refuse
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.tensor import NkiTensor

_GRID = "grid of tiles"
"""The subject of findings about a grid."""
_TILE_DIMS = 2
"""The minimum number of dimensions of a tile."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """The selection of a grid in one dimension of its tensor, in elements."""

    origin: int
    limit: int
    """The position after the last selected element."""
    grain: int
    """The number of elements per coordinate; 1 in a dimension that is not tiled."""
    is_tiled: bool
    is_counted: bool = True
    """Whether the dimension has a coordinate; an integer index removes the coordinate."""
    step: int = 1
    """The distance between selected coordinates: every `step`-th coordinate is selected."""

    @property
    def stride(self) -> int:
        """The number of elements from one selected coordinate to the next."""
        return self.grain * self.step

    @property
    def count(self) -> int:
        return -(-(self.limit - self.origin) // self.stride)

    @property
    def extent(self) -> int:
        """The number of selected elements."""
        return self.limit - self.origin - (self.count - 1) * (self.stride - self.grain)

    @property
    def has_gaps(self) -> bool:
        """Whether there are unselected elements between selected ones."""
        return self.step > 1 and self.count > 1

    def part(self, first: int, count: int, step: int = 1) -> _Axis:
        """Select `count` coordinates, every `step`-th from `first` on; the last may be partial."""
        origin = self.origin + first * self.stride
        last = origin + (count - 1) * self.stride * step
        limit = min(last + self.grain, self.limit)
        return replace(self, origin=origin, limit=limit, step=self.step * step)


@dataclass(frozen=True, slots=True)
class _Dense:
    """A tensor whose elements are stored in the order of its dimensions."""

    tensor: NkiTensor

    def data(self, axes: tuple[_Axis, ...]) -> NkiTensor | None:
        """Return the selected elements as a tensor; None if no access pattern selects these."""
        if any(axis.has_gaps and axis.grain > 1 for axis in axes):
            return None
        return self.tensor[
            tuple(
                slice(axis.origin, axis.limit, axis.stride if axis.has_gaps else 1)
                if axis.is_tiled or axis.is_counted
                else axis.origin
                for axis in axes
            )
        ]


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A tensor on chip with the tiles of a grid side by side, in the order of coordinates."""

    tensor: NkiTensor
    """The tensor, of shape (rows of a tile, elements per partition of all tiles)."""
    tile: tuple[int, ...]
    """The size of a tile in each dimension of the grid's tensor; 1 in untiled dimensions."""
    counts: tuple[int, ...]

    def data(self, axes: tuple[_Axis, ...]) -> NkiTensor | None:
        """Return the selected elements as a tensor; None if no access pattern selects just these.

        A selection inside one tile has the tile's dimensions. Several tiles become one tensor of
        two dimensions with the tiles side by side; they must be adjacent whole tiles.
        """
        if any(axis.has_gaps for axis in axes):
            return None
        boxes = [
            range(axis.origin // size, -(-axis.limit // size))
            for axis, size in zip(axes, self.tile, strict=True)
        ]
        first = self._number([box[0] for box in boxes])
        count = math.prod(map(len, boxes))
        prefix = len(axes) - sum(axis.is_tiled for axis in axes)
        width = math.prod(self.tile[prefix + 1 :])
        if count == 1:
            inside = [axis.origin % size for axis, size in zip(axes, self.tile, strict=True)]
            whole = self.tensor[:, first * width : (first + 1) * width]
            whole = whole.reshape_dim(1, self.tile[prefix + 1 :])
            spans = list(zip(axes, inside, strict=True))[prefix:]
            return whole[tuple(slice(at, at + axis.extent) for axis, at in spans)]
        is_exact = all(
            axis.origin % size == 0 and axis.extent % size == 0
            for axis, size in zip(axes, self.tile, strict=True)
        )
        last = self._number([box[-1] for box in boxes])
        if not is_exact or last - first + 1 != count:
            return None
        return self.tensor[:, first * width : (last + 1) * width]

    def _number(self, coordinates: list[int]) -> int:
        number = 0
        for coordinate, count in zip(coordinates, self.counts, strict=True):
            number = number * count + coordinate
        return number


@dataclass(frozen=True, slots=True)
class _Selection:
    """The part of a tensor that a grid selects, and its division into tiles and blocks."""

    backing: _Dense | _Tiles
    axes: tuple[_Axis, ...]
    tile_shape: tuple[int, ...]
    block_shape: tuple[int, ...] = ()
    """The number of tiles of a block in each dimension; empty if coordinates count tiles."""

    def data(self) -> NkiTensor | None:
        """Return the selected elements as a tensor; None if no access pattern selects these."""
        return self.backing.data(self.axes)


class NkiGrid(NKIObject):
    """A tensor that is divided into tiles or blocks: the base of both kinds of grids.

    Grids come from `nl.tiles`, `nl.blocks`, `nl.alloc_tiles` and `nl.alloc_blocks`. `grid[i, j]`
    and `grid[i, :]` are grids again: an integer removes a coordinate. The last tile of a dimension
    may be partial. Source: NKI API reference 0.7, nki.language.NkiGrid.
    """

    __slots__ = ("_selection",)

    _selection: _Selection

    def __init__(self, **kwargs: Any):
        """Grids are made by the functions of `nki.language`, not by their classes."""
        selection = kwargs.pop("selection", None)
        if not isinstance(selection, _Selection) or kwargs:
            name = type(self).__name__
            refuse(
                _GRID,
                f"{name} is made by nl.tiles and its like, not by its class",
                error=TypeError,
            )
        self._selection = selection

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of tiles, blocks or (in untiled dimensions) elements along each coordinate."""
        return tuple(axis.count for axis in self._selection.axes if axis.is_counted)

    @property
    def tile_shape(self) -> tuple[int, ...]:
        """The size of a whole tile, in elements per dimension."""
        return self._selection.tile_shape

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The number of selected elements in each dimension that is tiled or has a coordinate."""
        return tuple(a.extent for a in self._selection.axes if a.is_tiled or a.is_counted)

    @property
    def index_step_elements(self) -> tuple[int, ...]:
        """For each dimension with a coordinate, the number of elements per coordinate step."""
        return tuple(axis.stride for axis in self._selection.axes if axis.is_counted)

    @property
    def is_remainder(self) -> bool:
        """Whether the last tile or block of some dimension is partial."""
        return any(axis.extent % axis.grain for axis in self._selection.axes)

    @property
    def dtype(self) -> str:
        """Name of the data type."""
        return self._selection.backing.tensor.dtype

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self._selection.backing.tensor.buffer

    @property
    def is_data_representable(self) -> bool:
        """Whether one tensor can have exactly the selected elements."""
        return self._selection.data() is not None

    @property
    def data(self) -> NkiTensor:
        """The selected elements as an operand of instructions.

        Raises ValueError if no access pattern has exactly these elements.
        """
        tensor = self._selection.data()
        if tensor is None:
            refuse(
                _GRID,
                f"no access pattern is exactly these {self.element_shape} elements; select one "
                "tile, or whole tiles that are stored one after the other",
            )
        return tensor

    def __getitem__(self, key: Any) -> Self:
        """A part of the grid: integers, slices with positive steps, and `...`, as in NumPy."""
        keys = cast(tuple[Any, ...], key if isinstance(key, tuple) else (key,))
        counted = [i for i, axis in enumerate(self._selection.axes) if axis.is_counted]
        if any(item is Ellipsis for item in keys):
            at = next(i for i, item in enumerate(keys) if item is Ellipsis)
            filled = (slice(None),) * (len(counted) - len(keys) + 1)
            keys = (*keys[:at], *filled, *keys[at + 1 :])
        if len(keys) > len(counted):
            refuse(
                _GRID,
                f"the grid has {numbered(len(counted), 'coordinate')}, there are "
                f"{numbered(len(keys), 'key')}",
                error=IndexError,
            )
        axes = list(self._selection.axes)
        for position, item in zip(counted, keys, strict=False):
            axes[position] = _indexed(axes[position], item)
        return type(self)(selection=replace(self._selection, axes=tuple(axes)))

    def __iter__(self) -> Iterator[Self]:
        return (self[coordinate] for coordinate in range(len(self)))

    def __len__(self) -> int:
        if not self.shape:
            refuse(_GRID, "one tile has no length", error=TypeError)
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class NkiTileGrid(NkiGrid):
    """A tensor that is divided into tiles.

    Source: NKI API reference 0.7, nki.language.NkiTileGrid.
    """

    __slots__ = ()


class NkiBlockGrid(NkiGrid):
    """A tensor that is divided into blocks of tiles; `nl.tiles(grid[i, j])` are a block's tiles.

    Source: NKI API reference 0.7, nki.language.NkiBlockGrid.
    """

    __slots__ = ()

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The size of a whole block, in tiles per dimension."""
        return self._selection.block_shape


def _indexed(axis: _Axis, item: Any) -> _Axis:
    chosen = numbers_in(axis.count, item)
    if chosen is not None and chosen.step < 1:
        message = f"a grid is sliced with positive steps, there is one of {chosen.step}"
        refuse(_GRID, message, error=IndexError)
    if chosen is not None:
        if not chosen:
            message = (
                f"{chosen.start}:{chosen.stop} selects nothing of "
                f"{numbered(axis.count, 'coordinate')}"
            )
            refuse(_GRID, message, error=IndexError)
        return axis.part(chosen.start, len(chosen), chosen.step)
    index = as_index(item)
    if index is None:
        message = f"a coordinate is an integer or a slice, got {one_line(item)}"
        refuse(_GRID, message, error=TypeError)
    if not -axis.count <= index < axis.count:
        message = f"coordinate {one_line(index)} is out of range, there are {axis.count}"
        refuse(_GRID, message, error=IndexError)
    return replace(axis.part(index % axis.count, 1), is_counted=False)


def tiles(source: NkiTensor | NkiGrid, *, tile_shape: tuple[int, ...] | None = None) -> NkiTileGrid:
    """Divide a tensor, or the selection of a grid, into tiles. Nothing is allocated or moved.

    Args:
        source: the tensor or grid.
        tile_shape: the size of a tile in at least the last two dimensions of the tensor; in all
            dimensions of a tensor in SBUF or PSUM. By default that of `source`, if `source` is a
            grid.

    Example:

        grid = nl.tiles(hbm, tile_shape=(128, 512))

    Raises TypeError if `tile_shape` is no tuple of ints, and ValueError if it does not fit the
    tensor. Example: `for i in range(grid.shape[0]): nisa.dma_copy(tile, grid[i, 0].data)`.
    Source: NKI API reference 0.7, nki.language.tiles.
    """
    return NkiTileGrid(selection=_tiled("nl.tiles", source, tile_shape))


def blocks(
    source: NkiTensor | NkiGrid,
    *,
    tile_shape: tuple[int, ...] | None = None,
    block_shape: tuple[int, ...],
) -> NkiBlockGrid:
    """Divide a tensor, or the selection of a grid, into blocks. Nothing is allocated or moved.

    Args:
        source: the tensor or grid.
        tile_shape: the size of a tile, see `tiles`.
        block_shape: the number of tiles of a block in each dimension of a tile.

    Raises TypeError and ValueError as `tiles`. Source: NKI API reference 0.7, nki.language.blocks.

    Example:

        grid = nl.blocks(hbm, tile_shape=(128, 64), block_shape=(1, 2))
    """
    tiled = _tiled("nl.blocks", source, tile_shape)
    return NkiBlockGrid(selection=_blocked("nl.blocks", tiled, block_shape))


def alloc_tiles(
    *,
    tile_shape: tuple[int, ...],
    element_shape: tuple[int, ...],
    buffer: MemoryRegion,
    dtype: DTypeLike,
    address: tuple[int, int] | None = None,
    name: str = "",
) -> NkiTileGrid:
    """Allocate a tensor as a grid of tiles; its contents are undefined.

    Args:
        tile_shape: the size of a tile in at least the last two dimensions of `element_shape`.
        element_shape: elements of the tensor; on chip, too, it may have more than 128 rows.
        buffer: `nl.sbuf`, `nl.psum`, `nl.hbm`, `nl.private_hbm` or `nl.shared_hbm`. In SBUF and
            PSUM the tiles are stored side by side in the partitions, the last coordinate fastest. A
            partial tile takes the space of a whole tile. `.data` of several tiles has two
            dimensions.
        dtype: element type.
        address: fixed (partition offset, byte offset inside a partition).
        name: the tensor's name; by default the variable it is assigned to.

    Raises TypeError for a shape that is no tuple of ints or a `buffer` that is no memory, and
    ValueError for shapes that do not fit. Source: NKI API reference 0.7, nki.language.alloc_tiles.

    Example:

        grid = nl.alloc_tiles(
            tile_shape=(128, 512), element_shape=(256, 512), buffer=nl.sbuf, dtype=x.dtype
        )
    """
    call = "nl.alloc_tiles"
    return NkiTileGrid(
        selection=_allocated(call, tile_shape, element_shape, buffer, dtype, address, name)
    )


def alloc_blocks(
    *,
    tile_shape: tuple[int, ...],
    block_shape: tuple[int, ...],
    element_shape: tuple[int, ...],
    buffer: MemoryRegion,
    dtype: DTypeLike,
    address: tuple[int, int] | None = None,
    name: str = "",
) -> NkiBlockGrid:
    """Allocate a tensor as a grid of blocks; its contents are undefined.

    Args:
        tile_shape: the size of a tile, see `alloc_tiles`.
        block_shape: the number of tiles of a block in each dimension of a tile. Tiles are stored as
            by `alloc_tiles`.
        element_shape: elements of the tensor.
        buffer: the memory of the tensor.
        dtype: element type.
        address: fixed (partition offset, byte offset inside a partition).
        name: the tensor's name; by default the variable it is assigned to.

    Example:

        grid = nl.alloc_blocks(
            tile_shape=(128, 64),
            block_shape=(1, 2),
            element_shape=(256, 512),
            buffer=nl.sbuf,
            dtype=x.dtype,
        )

    Raises TypeError and ValueError as `alloc_tiles`.
    Source: NKI API reference 0.7, nki.language.alloc_blocks.
    """
    call = "nl.alloc_blocks"
    tiled = _allocated(call, tile_shape, element_shape, buffer, dtype, address, name)
    return NkiBlockGrid(selection=_blocked(call, tiled, block_shape))


_TRANSPOSES: tuple[tuple[int, ...], ...] = ((1, 0), (2, 1, 0), (3, 1, 2, 0))
"""The values of `axes` that `nisa.dma_transpose` supports."""


_Like = TypeVar("_Like", bound="NkiTensor | NkiGrid")


def empty_like(
    x: _Like,
    dtype: DTypeLike | None = None,
    buffer: MemoryRegion | None = None,
    name: str = "",
    *,
    transpose_axes: tuple[int, ...] | None = None,
    address: tuple[int, int] | None = None,
) -> _Like:
    """Allocate a tensor with the shape of `x`, or a grid with the same tiles and blocks as `x`.

    Args:
        x: the tensor or grid. The new tensor has only the selected elements of a grid.
        dtype: element type, by default that of `x`.
        buffer: the memory of the new tensor, by default that of `x`.
        name: the tensor's name.
        transpose_axes: (1, 0), (2, 1, 0) or (3, 1, 2, 0): the order of the dimensions, or of the
            tiled dimensions, in a tile in SBUF that `nisa.dma_transpose` writes.
        address: fixed (partition offset, byte offset inside a partition).

    Example:

        other = nl.empty_like(x, buffer=nl.psum)

    Raises ValueError for `transpose_axes` that do not fit.
    Source: NKI API reference 0.7, nki.language.empty_like.
    """
    call = "nl.empty_like"
    if not isinstance(x, NkiGrid):
        shape, element, region = like(call, x, dtype, buffer)
        if transpose_axes is not None:
            shape = _transposed(call, transpose_axes, shape, region)
        return cast(Any, allocate(call, shape, element, region, name, address))
    given = x._selection  # pyright: ignore[reportPrivateUsage]
    prefix = len(given.axes) - len(given.tile_shape)
    kept = [axis for axis in given.axes[:prefix] if axis.is_counted]
    tiled, tile, block = list(given.axes[prefix:]), given.tile_shape, given.block_shape
    region = x.buffer if buffer is None else buffer
    if transpose_axes is not None:
        tile = _transposed(call, transpose_axes, tile, region)
        block = tuple(block[i] for i in transpose_axes) if block else ()
        tiled = [tiled[i] for i in transpose_axes]
    element_shape = tuple(axis.extent for axis in (*kept, *tiled))
    element = x.dtype if dtype is None else dtype
    made = _allocated(call, tile, element_shape, region, element, address, name)
    if block:
        made = _blocked(call, made, block)
    axes = tuple(
        replace(axis, is_counted=source.is_counted)
        for axis, source in zip(made.axes, (*kept, *tiled), strict=True)
    )
    return type(x)(selection=replace(made, axes=axes))


def _transposed(call: str, axes: Any, shape: tuple[int, ...], buffer: Any) -> tuple[int, ...]:
    """Return a shape with its dimensions in another order, for a tile in SBUF."""
    order = next(
        (known for known in _TRANSPOSES if isinstance(axes, tuple) and known == axes), None
    )
    if order is None or len(order) != len(shape):
        refuse(
            call,
            f"'transpose_axes' is (1, 0), (2, 1, 0) or (3, 1, 2, 0) by the number of "
            f"dimensions, it is {one_line(axes)} for {shape}",
        )
    if buffer is not MemoryRegion.sbuf:
        refuse(call, f"with 'transpose_axes' the buffer is nl.sbuf, not {one_line(buffer)}")
    rows = shape[order[0]]
    if rows > tile_size.pmax:
        refuse(call, f"{numbered(rows, 'partition')}, there are at most {tile_size.pmax}")
    return tuple(shape[i] for i in order)


def _dims(call: str, what: str, shape: Any) -> tuple[int, ...]:
    items = cast(tuple[Any, ...], shape)
    if not isinstance(shape, tuple) or any(type(item) is not int for item in items):
        refuse(call, f"'{what}' is a tuple of ints, got {one_line(shape)}", error=TypeError)
    if not items or min(items) < 1:
        refuse(call, f"'{what}' is positive, got {one_line(shape)}")
    if math.prod(items) > MAX_ELEMENTS:
        refuse(call, f"'{what}' has more than 2**48 elements: {one_line(shape)}")
    return items


def _fail_tile(call: str, tile_shape: tuple[int, ...], fits: str) -> NoReturn:
    refuse(call, f"'tile_shape' {tile_shape} has {numbered(len(tile_shape), 'dimension')}, {fits}")


def _axes_of(
    call: str, tile_shape: tuple[int, ...], element_shape: tuple[int, ...]
) -> tuple[_Axis, ...]:
    prefix = len(element_shape) - len(tile_shape)
    if len(tile_shape) < _TILE_DIMS:
        _fail_tile(call, tile_shape, f"a tile has at least {_TILE_DIMS}")
    if prefix < 0:
        _fail_tile(call, tile_shape, f"the tensor of shape {element_shape} {len(element_shape)}")
    grains = (*(1 for _ in range(prefix)), *tile_shape)
    return tuple(
        _Axis(0, extent, grain, is_tiled=i >= prefix)
        for i, (extent, grain) in enumerate(zip(element_shape, grains, strict=True))
    )


def _tiled(call: str, source: Any, tile_shape: Any) -> _Selection:
    """Return a tensor, or the selection of a grid, divided into tiles."""
    if isinstance(source, NkiGrid):
        given = source._selection  # pyright: ignore[reportPrivateUsage]
        shape = given.tile_shape if tile_shape is None else _dims(call, "tile_shape", tile_shape)
        prefix = len(given.axes) - len(given.tile_shape)
        if len(shape) != len(given.tile_shape):
            _fail_tile(call, shape, f"those of the grid {len(given.tile_shape)}")
        if any(axis.has_gaps for axis in given.axes[prefix:]):
            refuse(call, "'source' is a selection with steps; take one of its cells")
        tiled = [
            replace(axis, grain=grain, is_counted=True, step=1)
            for axis, grain in zip(given.axes[prefix:], shape, strict=True)
        ]
        return _Selection(given.backing, (*given.axes[:prefix], *tiled), shape)
    if not isinstance(source, NkiTensor):
        refuse(call, f"'source' is a tensor or a grid, got {one_line(source)}", error=TypeError)
    if tile_shape is None:
        refuse(call, "'tile_shape' is needed for a tensor")
    shape = _dims(call, "tile_shape", tile_shape)
    axes = _axes_of(call, shape, source.shape)
    if source.buffer.on_chip and len(shape) < len(source.shape):
        _fail_tile(call, shape, f"a tensor on chip is tiled in all its {len(source.shape)}")
    return _Selection(_Dense(source), axes, shape)


def _blocked(call: str, tiled: _Selection, block_shape: Any) -> _Selection:
    block, tile = _dims(call, "block_shape", block_shape), tiled.tile_shape
    if len(block) != len(tile):
        refuse(
            call,
            f"'block_shape' {block} has {numbered(len(block), 'dimension')}, a tile {len(tile)}",
        )
    prefix = len(tiled.axes) - len(tile)
    blocked = [
        replace(axis, grain=size * count)
        for axis, size, count in zip(tiled.axes[prefix:], tile, block, strict=True)
    ]
    return replace(tiled, axes=(*tiled.axes[:prefix], *blocked), block_shape=block)


def _allocated(
    call: str,
    tile_shape: Any,
    element_shape: Any,
    buffer: Any,
    dtype: Any,
    address: Any,
    name: Any,
) -> _Selection:
    tile = _dims(call, "tile_shape", tile_shape)
    elements = _dims(call, "element_shape", element_shape)
    axes = _axes_of(call, tile, elements)
    if not isinstance(buffer, MemoryRegion):
        refuse(call, f"'buffer' is nl.sbuf or its like, got {one_line(buffer)}", error=TypeError)
    if not buffer.on_chip:
        return _Selection(
            _Dense(allocate(call, elements, dtype, buffer, name, address)), axes, tile
        )
    counts = tuple(axis.count for axis in axes)
    shape = (tile[0], math.prod(counts) * math.prod(tile[1:]))
    tensor = allocate(call, shape, dtype, buffer, name, address)
    return _Selection(_Tiles(tensor, tuple(axis.grain for axis in axes), counts), axes, tile)


__all__ = [
    "NkiBlockGrid",
    "NkiGrid",
    "NkiTileGrid",
    "alloc_blocks",
    "alloc_tiles",
    "blocks",
    "empty_like",
    "tiles",
]
