"""Groups of equal tiles that one source line allocates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nkijit.passes.analysis.memory.map import LiveTile


@dataclass(frozen=True, slots=True)
class TileGroup:
    """Tiles of equal shape and data type that one source line allocates."""

    tile: LiveTile
    """The first tile of the group, with a lifetime that covers the lifetimes of all tiles."""
    count: int

    @property
    def bytes(self) -> int:
        """The total bytes per partition of the group's tiles."""
        return self.count * self.tile.bytes


def groups_of(tiles: Iterable[LiveTile]) -> list[TileGroup]:
    """Group tiles by the line that allocates them, the largest groups first."""
    found: dict[object, TileGroup] = {}
    for tile in tiles:
        # Tiles without a position are not grouped: their lines are not known.
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
