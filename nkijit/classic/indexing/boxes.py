"""Blocks of tiles, and broadcasting of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4096)
def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the broadcast shape by NumPy's rules; None if shapes do not broadcast."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class TileBox:
    """A block of a tile: the first index and the size in each dimension; sizes are at least 1."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def whole(shape: tuple[int, ...]) -> TileBox:
        """Return the box that covers a whole tile of this shape."""
        return TileBox((0,) * len(shape), shape)

    def within(self, shape: tuple[int, ...]) -> TileBox:
        """Return the corresponding box in an operand of `shape`, which broadcasts to the tile.

        The operand has the last dimensions of the tile; in its dimensions of size 1, the box has
        size 1.
        """
        if self.sizes == shape:  # the whole operand, so its start is 0
            return self
        rank = len(shape)
        starts = self.starts[len(self.starts) - rank :]
        sizes = self.sizes[len(self.sizes) - rank :]
        pairs = list(zip(starts, sizes, shape, strict=True))
        return TileBox(
            tuple(0 if n == 1 else start for start, _, n in pairs),
            tuple(1 if n == 1 else size for _, size, n in pairs),
        )

    def of(self, axes: Sequence[int], shape: tuple[int, ...]) -> TileBox:
        """Return the corresponding box in an operand with the dimensions `axes` of the tile.

        `shape` is the operand's shape.
        """
        picked = TileBox(tuple(self.starts[d] for d in axes), tuple(self.sizes[d] for d in axes))
        return picked.within(shape)

    def with_partitions(self, partitions: int, shape: tuple[int, ...]) -> TileBox:
        """Return the corresponding box in an operand that shares only the partition dimension.

        Args:
            partitions: the number of partitions of the tile; an operand with another number of
                partitions remains whole.
            shape: the shape of the operand.
        """
        if shape[0] != partitions:
            return TileBox.whole(shape)
        rest = TileBox.whole(shape[1:])
        return TileBox((self.starts[0], *rest.starts), (self.sizes[0], *rest.sizes))

    def across(self, axes: Sequence[int], shape: Sequence[int]) -> TileBox:
        """Return a box of a tile of `shape` that equals this box in the tile's dimensions `axes`.

        In all other dimensions, the box covers the whole tile.
        """
        starts, sizes = [0] * len(shape), list(shape)
        for dim, start, size in zip(axes, self.starts, self.sizes, strict=True):
            starts[dim], sizes[dim] = start, size
        return TileBox(tuple(starts), tuple(sizes))

    def intersection(self, other: TileBox) -> TileBox | None:
        """Return the intersection of two boxes, or None."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = [
            min(a + n, b + m)
            for a, n, b, m in zip(self.starts, self.sizes, other.starts, other.sizes, strict=True)
        ]
        sizes = tuple(end - start for end, start in zip(ends, starts, strict=True))
        return TileBox(starts, sizes) if min(sizes) > 0 else None

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Return True when the box covers a whole tile of this shape."""
        return self.sizes == shape


def put(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    """Return a copy of `values` with `value` at position `at`."""
    return (*values[:at], value, *values[at + 1 :])
