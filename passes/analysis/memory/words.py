"""Texts shared by printed and drawn memory maps: headlines, and tables of tiles."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nkijit.dialects.spelling import counted, numbered
from nkijit.passes.analysis.memory.map import LiveTile, SpaceMap
from nkijit.passes.analysis.memory.tile_groups import TileGroup
from nkijit.passes.diagnostics.places import Position, cell_of
from nkijit.passes.diagnostics.tables import aligned


def table_of(groups: Sequence[TileGroup], most: int) -> list[str]:
    """Format the `most` largest groups of tiles as a table; the last line counts the others."""
    rows = [("tile", "shape and type", "bytes", "in use", "allocated at")]
    rows += [_row(group) for group in groups[:most]]
    return [*aligned_tiles(rows), *_others(groups[most:])]


def _row(group: TileGroup) -> tuple[str, ...]:
    tile = group.tile
    size = str(tile.bytes) if group.count == 1 else f"{group.count} x {tile.bytes}"
    where = "" if tile.allocated is None else str(tile.allocated)
    return f"%{tile.name}", tile.size, size, in_use(tile), where


def in_use(tile: LiveTile) -> str:
    first, last = tile.first_use, tile.last_use
    if first is None or last is None:
        return f"instructions {tile.start} to {tile.end}"
    if first.file == last.file:
        lines = f"lines {min(first.line, last.line)} to {max(first.line, last.line)}"
        is_elsewhere = tile.allocated is not None and first.file != tile.allocated.file
        return f"{lines} of {cell_of(first.file) or _short(first)}" if is_elsewhere else lines
    return f"{first.brief} to {last.brief}"


def _short(place: Position) -> str:
    return os.path.basename(place.file)


def _others(groups: Sequence[TileGroup]) -> list[str]:
    if not groups:
        return []
    count, total = sum(g.count for g in groups), sum(g.bytes for g in groups)
    return [f"and {numbered(count, 'more tile')}, {numbered(total, 'byte')} together"]


def aligned_tiles(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the columns of a table of tiles, including its headline."""
    return aligned(rows, lambda _, name: name == "bytes")


def headline_of(space: SpaceMap) -> str:
    """Format the peak of a memory and its capacity."""
    share = f"{100 * space.peak / space.capacity:.1f}%"
    banks = ""
    if space.bank is not None:
        of = space.capacity // space.bank
        banks = f", at least {space.peak_banks} of {of} banks"
    return (
        f"{space.name}: {space.peak:,} of {counted(space.capacity, 'byte')} per partition in use "
        "at the "
        f"peak ({share}){banks}"
    )
