"""Tiles that one line of the author allocates, counted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nkijit.passes.analysis.memory.map import LiveTile


@dataclass(frozen=True, slots=True)
class TileGroup:
    """Tiles that one line of the author allocates, alike in shape and data type."""

    tile: LiveTile
    """The first of them, in use from the first position of any of them to the last."""
    count: int

    @property
    def bytes(self) -> int:
        """Bytes per partition of all."""
        return self.count * self.tile.bytes


def groups_of(tiles: Iterable[LiveTile]) -> list[TileGroup]:
    """Tiles by the line that allocates them, those that take most first."""
    found: dict[object, TileGroup] = {}
    for tile in tiles:
        # Without a place nothing says that two tiles have the same cause.
        line = tile.allocated or object()
        key = (tile.name, tile.shape, tile.dtype, line)
        group = found.get(key)
        if group is None:
            found[key] = TileGroup(tile, 1)
        else:
            found[key] = TileGroup(_hull(group.tile, tile), group.count + 1)
    return sorted(found.values(), key=lambda g: -g.bytes)


def _hull(one: LiveTile, two: LiveTile) -> LiveTile:
    first = one if one.start <= two.start else two
    last = one if one.end >= two.end else two
    return replace(
        one,
        start=first.start,
        end=last.end,
        first_use=first.first_use,
        last_use=last.last_use,
    )
