"""The memory map as text: a table of the tiles at the peak, and a map of characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nkijit.passes.diagnostics.places import Position

if TYPE_CHECKING:
    from nkijit.passes.analysis.memory import CoreMap, LiveTile, MemoryReport, SpaceMap, TileMap

COLUMNS = 100
"""Width of the text, as far as the names in it allow."""
MOST_ROWS = 20
"""Rows of the table."""
_MOST_ROWS_OF_MAP = 24
_LABEL = 9
_KEYS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHER, _FREE = "+", "."


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


def table_of(groups: Sequence[TileGroup], most: int) -> list[str]:
    """The largest groups of tiles as a table, with a last line that counts the others."""
    rows = [("tile", "shape and type", "bytes", "in use", "allocated at")]
    rows += [_row(group) for group in groups[:most]]
    return [*_aligned(rows, right="bytes"), *_others(groups[most:])]


def _row(group: TileGroup) -> tuple[str, ...]:
    tile = group.tile
    size = str(tile.bytes) if group.count == 1 else f"{group.count} x {tile.bytes}"
    where = "" if tile.allocated is None else str(tile.allocated)
    return f"%{tile.name}", tile.size, size, _in_use(tile), where


def _in_use(tile: LiveTile) -> str:
    first, last = tile.first_use, tile.last_use
    if first is None or last is None:
        return f"instructions {tile.start} to {tile.end}"
    if first.file == last.file:
        lines = f"lines {min(first.line, last.line)} to {max(first.line, last.line)}"
        is_elsewhere = tile.allocated is not None and first.file != tile.allocated.file
        return f"{lines} of {_short(first)}" if is_elsewhere else lines
    return f"{_short(first)}:{first.line} to {_short(last)}:{last.line}"


def _short(place: Position) -> str:
    return place.file.rpartition("/")[2]


def _others(groups: Sequence[TileGroup]) -> list[str]:
    if not groups:
        return []
    count, total = sum(g.count for g in groups), sum(g.bytes for g in groups)
    return [f"and {count} more tile{'s' if count > 1 else ''}, {total} bytes together"]


def _aligned(rows: Sequence[Sequence[str]], right: str) -> list[str]:
    """Rows under a headline, without columns that are empty; `right` is a column of numbers."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    cells: list[list[str]] = []
    for column in columns:
        width = max(map(len, column))
        is_right = column[0] == right
        cells.append([cell.rjust(width) if is_right else cell.ljust(width) for cell in column])
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]


# ------------------------------------------------------------------ the report


def text_of(report: MemoryReport) -> str:
    """The whole report, with a closing newline."""
    parts: list[str] = []
    for core in report.cores:
        name = f" on core {core.core}" if len(report.cores) > 1 else ""
        parts.append(f"memory of @{report.kernel} for {report.target}{name}")
        parts += ["\n".join(_space(core, space)) for space in core.spaces]
        if core.unused:
            parts.append(f"never used, so without an address: {_listed(core.unused)}")
    return "\n\n".join(parts) + "\n"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"%{name}" for name in names[:MOST_ROWS])
    return shown + (f" and {len(names) - MOST_ROWS} more" if len(names) > MOST_ROWS else "")


def _space(core: CoreMap, space: SpaceMap) -> list[str]:
    if not space.tiles:
        return [f"{space.name}: no tiles"]
    lines = [headline_of(space)]
    where = "" if space.peak_place is None else f" at {space.peak_place}"
    lines.append(f"  the peak is instruction {space.peak_at}, {space.peak_instruction}{where}")
    if space.height > space.capacity:
        lines.append(f"  the map ends at byte {space.height:,}: it does not fit")
    keys, shown = _keys(space.at_peak)
    lines += ["", *(f"  {line}" for line in _table_at_peak(space, keys, shown)), ""]
    lines += _map(core, space, keys)
    return lines


def headline_of(space: SpaceMap) -> str:
    """What a memory must have, of what it has."""
    share = f"{100 * space.peak / space.capacity:.1f}%"
    banks = ""
    if space.bank is not None:
        of = space.capacity // space.bank
        banks = f", at least {space.peak_banks} of {of} banks"
    return (
        f"{space.name}: {space.peak:,} of {space.capacity:,} bytes per partition in use at the "
        f"peak ({share}){banks}"
    )


def _keys(tiles: Sequence[TileMap]) -> tuple[dict[object, str], list[TileMap]]:
    """A letter for each of the largest tiles, and these tiles."""
    shown = list(tiles[: min(MOST_ROWS, len(_KEYS))])
    return {id(tile): key for tile, key in zip(shown, _KEYS, strict=False)}, shown


def _table_at_peak(space: SpaceMap, keys: dict[object, str], shown: Sequence[TileMap]) -> list[str]:
    rows = [("", "tile", "shape and type", "bytes", "address", "in use", "allocated at")]
    for tile in shown:
        fixed = " fixed" if tile.fixed else ""
        where = "" if tile.allocated is None else str(tile.allocated)
        rows.append(
            (
                keys[id(tile)],
                f"%{tile.name}",
                tile.size,
                str(tile.bytes),
                f"{tile.address}{fixed}",
                _in_use(tile),
                where,
            )
        )
    rest = space.at_peak[len(shown) :]
    more = [f"and {len(rest)} more, {sum(t.bytes for t in rest)} bytes together"] if rest else []
    return [*_aligned(rows, right="bytes"), *more]


# ------------------------------------------------------------------ the map


def _map(core: CoreMap, space: SpaceMap, keys: dict[object, str]) -> list[str]:
    """Time to the right, addresses upwards; a cell shows what fills most of it."""
    step = _step(space)
    rows = -(-space.height // step)
    width = COLUMNS - _LABEL - 2
    if core.instructions < width:  # then every instruction has as many columns as all others
        width -= width % core.instructions
    filled: dict[tuple[int, int], tuple[int, str]] = {}
    for tile in space.tiles:
        key = keys.get(id(tile), _OTHER)
        for cell, area in _cells(tile, core.instructions, width, step):
            if area > filled.get(cell, (0, ""))[0]:
                filled[cell] = area, key
    lines: list[str] = []
    for row in reversed(range(rows)):
        cells = "".join(filled.get((row, column), (0, _FREE))[1] for column in range(width))
        lines.append(f"{row * step:>{_LABEL}} |{cells}")
    peak = (2 * space.peak_at + 1) * width // (2 * core.instructions)
    lines.append(f"{'byte':>{_LABEL}} +{'-' * peak}^{'-' * (width - peak - 1)}")
    last = str(core.instructions - 1)
    count = f"instruction{'s' if core.instructions > 1 else ''}"
    lines.append(f"{' ' * (_LABEL + 2)}0{last:>{width - 1}}" if width > len(last) + 1 else "")
    lines.append(
        f"{' ' * (_LABEL + 2)}{core.instructions} {count} to the right, ^ the peak; a letter is "
        f"a tile of the table,"
    )
    lines.append(f"{' ' * (_LABEL + 2)}{_OTHER} another tile, {_FREE} free; a row is {step} bytes")
    return [line for line in lines if line]


def _step(space: SpaceMap) -> int:
    """Bytes of a row: a bank, or at least the power of two that divides all addresses."""
    if space.bank is not None:
        return space.bank
    bits = 0
    for tile in space.tiles:
        bits |= tile.address[1] | tile.bytes
    step = bits & -bits
    while step * _MOST_ROWS_OF_MAP < space.height:
        step *= 2
    return step


def _cells(
    tile: TileMap, instructions: int, width: int, step: int
) -> Iterable[tuple[tuple[int, int], int]]:
    """The cells that a tile is in, with how much of each it fills."""
    low, high = tile.address[1], tile.address[1] + tile.bytes
    rows = [
        (row, min(high, (row + 1) * step) - max(low, row * step))
        for row in range(low // step, -(-high // step))
    ]
    # A column is `instructions` long and an instruction `width`, so that both are whole numbers.
    start, end = tile.start * width, (tile.end + 1) * width
    for column in range(start // instructions, -(-end // instructions)):
        time = min(end, (column + 1) * instructions) - max(start, column * instructions)
        for row, part in rows:
            yield (row, column), part * time
