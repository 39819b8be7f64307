"""Tensors with block dimensions before the partition dimension.

Source: NKI API reference 2.26, nki.language.par_dim; NKI block dimension migration guide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, cast

from nkijit.classic.indexing.boxes import TileBox
from nkijit.classic.indexing.expressions import Index
from nkijit.classic.indexing.selection import Shape
from nkijit.classic.tensors.tensors import ClassicTensor, element_of
from nkijit.dialects.access import AccessPattern, DynamicSlice, slice_of_range
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.classic import OUT_OF_BOUNDS, TILE_EXPECTED
from nkijit.tracing.tensor import NkiTensor


class Blocks(ClassicTensor):
    """Tiles with block dimensions: `nl.ndarray((4, nl.par_dim(128), 512), …)`.

    Each block is an allocation of its own, with its own address and live range.
    """

    __slots__ = ("_tiles", "block_shape")

    def __init__(self, block_shape: tuple[int, ...], tiles: Sequence[ClassicTensor]):
        """`tiles`: one per block, in row-major order."""
        self.block_shape = block_shape
        self._tiles = tuple(tiles)
        self.shape = Shape.of((*block_shape, *tiles[0].shape))

    @property
    def _element(self) -> str:
        return element_of(self._tiles[0])

    @property
    def _views(self) -> Sequence[NkiTensor]:
        return [view for tile in self._tiles for view in tile._views]  # pyright: ignore[reportPrivateUsage]

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self._tiles[0].buffer

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._tiles[0].name

    def tiles(self) -> Iterator[tuple[tuple[int, ...], ClassicTensor]]:
        """Yield the tiles with their block indices."""
        yield from zip(product(*map(range, self.block_shape)), self._tiles, strict=True)

    def part(self, box: TileBox) -> NkiTensor:
        """Return a block of the only tile; ends the trace if there are several tiles."""
        del box
        if len(self._tiles) == 1:
            return self._tiles[0].whole()
        self.fail(
            TILE_EXPECTED,
            f"it has block dimensions {self.block_shape} in front of the partition dimension",
        )

    def view(self, dtype: Any) -> ClassicTensor:
        """The same bits as elements of another type, without a copy."""
        return Blocks(self.block_shape, [tile.view(dtype) for tile in self._tiles])

    def __getitem__(self, key: Any) -> ClassicTensor:
        keys = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
        if keys and keys[0] is Ellipsis:
            keys = (slice(None),) * (self.ndim - len(keys) + 1) + keys[1:]
        n = len(self.block_shape)
        front = list(keys[:n]) + [slice(None)] * (n - len(keys))
        chosen: list[range] = []
        kept: list[int] = []
        for size, item in zip(self.block_shape, front, strict=False):
            item = _constant(item)
            if isinstance(item, DynamicSlice):
                start = cast(int, item.start)
                item = slice(start, start + cast(int, item.size))
            if isinstance(item, slice):
                chosen.append(range(size)[cast("slice[Any, Any, Any]", item)])
                kept.append(len(chosen[-1]))
                continue
            try:
                number = int(item.__index__())
            except (AttributeError, TypeError):
                self.fail(
                    TILE_EXPECTED, f"block index {one_line(item)}; legal: an integer or a slice"
                )
            if not -size <= number < size:
                self.fail(OUT_OF_BOUNDS, f"block index {number} of {size}")
            chosen.append(range(number % size, number % size + 1))
        strides = AccessPattern.contiguous(self.block_shape).strides
        numbers = [sum(i * s for i, s in zip(at, strides, strict=True)) for at in product(*chosen)]
        tiles = [self._tiles[number] for number in numbers]
        rest = keys[n:]
        if any(not isinstance(item, slice) or item != slice(None) for item in rest):
            tiles = [tile[rest] for tile in tiles]
        return Blocks(tuple(kept), tiles) if kept else tiles[0]


def _constant(item: Any) -> Any:
    """Return an index expression without coefficients as a number, and a range as a slice."""
    if isinstance(item, Index) and not any(item.coefficients):
        return item.constant
    return slice_of_range(item) or item
