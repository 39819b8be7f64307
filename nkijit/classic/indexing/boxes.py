"""Blocks of tiles, and how shapes broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4096)
def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that shapes have together by NumPy's rules; None when they have none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class TileBox:
    """A block of a tile: per dimension the first index and how many there are, at least 1."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def whole(shape: tuple[int, ...]) -> TileBox:
        """All of a tile."""
        return TileBox((0,) * len(shape), shape)

    def within(self, shape: tuple[int, ...]) -> TileBox:
        """The box in an operand of another shape that broadcasts to the tile.

        Its dimensions are the last ones of the tile; those of size 1 stay whole.
        """
        if self.sizes == shape:  # all of it: there is no room to start elsewhere
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
        """The box in an operand whose dimensions are those numbered `axes` of the tile."""
        picked = TileBox(tuple(self.starts[d] for d in axes), tuple(self.sizes[d] for d in axes))
        return picked.within(shape)

    def with_partitions(self, partitions: int, shape: tuple[int, ...]) -> TileBox:
        """The box in an operand that has only the partitions in common with the tile.

        `partitions` is how many the tile has; an operand with another number stays whole.
        """
        if shape[0] != partitions:
            return TileBox.whole(shape)
        rest = TileBox.whole(shape[1:])
        return TileBox((self.starts[0], *rest.starts), (self.sizes[0], *rest.sizes))

    def across(self, axes: Sequence[int], shape: Sequence[int]) -> TileBox:
        """The box in a tile of `shape`, of whose dimensions this one has those numbered `axes`."""
        starts, sizes = [0] * len(shape), list(shape)
        for dim, start, size in zip(axes, self.starts, self.sizes, strict=True):
            starts[dim], sizes[dim] = start, size
        return TileBox(tuple(starts), tuple(sizes))

    def intersection(self, other: TileBox) -> TileBox | None:
        """What two boxes have in common, if anything."""
        starts = tuple(map(max, self.starts, other.starts))
        ends = [
            min(a + n, b + m)
            for a, n, b, m in zip(self.starts, self.sizes, other.starts, other.sizes, strict=True)
        ]
        sizes = tuple(end - start for end, start in zip(ends, starts, strict=True))
        return TileBox(starts, sizes) if min(sizes) > 0 else None

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """True for all of a tile of this shape."""
        return self.sizes == shape


def put(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    """The values with another one at a position."""
    return (*values[:at], value, *values[at + 1 :])
