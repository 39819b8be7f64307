"""A memory map as text: a table of the tiles at the peak, and a map of characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nkijit.dialects.spelling import numbered
from nkijit.passes.analysis.memory.map import CoreMap, MemoryMap, SpaceMap, TileMap
from nkijit.passes.analysis.memory.words import aligned_tiles, headline_of, in_use
from nkijit.passes.compile.schedules import Schedule

COLUMNS = 100
"""The width of the text in characters; long names can exceed it."""
MOST_ROWS = 20
"""The largest number of rows in the table."""
_MOST_ROWS_OF_MAP = 24
_LABEL = 9
_KEYS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHER, _FREE = "+", "."


def text_of(report: MemoryMap) -> str:
    """Return the whole report, with a closing newline."""
    parts: list[str] = []
    for core in report.cores:
        name = f" on core {core.core}" if len(report.cores) > 1 else ""
        parts.append(f"memory of @{report.kernel} for {report.target}{name}")
        parts += ["\n".join(_space(core, space)) for space in core.spaces]
        if core.unused:
            parts.append(f"never used, so without an address: {_listed(core.unused)}")
    return f"{Schedule.author.headline}\n" + "\n\n".join(parts) + "\n"


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


def _keys(tiles: Sequence[TileMap]) -> tuple[dict[object, str], list[TileMap]]:
    """Return a letter for each of the largest tiles, and the list of these tiles."""
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
                in_use(tile),
                where,
            )
        )
    rest = space.at_peak[len(shown) :]
    left = sum(tile.bytes for tile in rest)
    more = [f"and {len(rest)} more, {numbered(left, 'byte')} together"] if rest else []
    return [*aligned_tiles(rows), *more]


# ------------------------------------------------------------------ the map


def _map(core: CoreMap, space: SpaceMap, keys: dict[object, str]) -> list[str]:
    """Draw the map: time to the right, addresses upwards, the largest tile per character."""
    step = _step(space)
    rows = -(-space.height // step)
    width = COLUMNS - _LABEL - 2
    if core.instructions < width:  # every instruction has the same number of columns
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
    count = numbered(core.instructions, "instruction")
    lines.append(f"{' ' * (_LABEL + 2)}0{last:>{width - 1}}" if width > len(last) + 1 else "")
    lines.append(
        f"{' ' * (_LABEL + 2)}{count} to the right, ^ the peak; a letter is a tile of the table,"
    )
    lines.append(
        f"{' ' * (_LABEL + 2)}{_OTHER} another tile, {_FREE} free; a row is "
        f"{numbered(step, 'byte')}"
    )
    return [line for line in lines if line]


def _step(space: SpaceMap) -> int:
    """Return the number of bytes that a row of the map shows.

    The number is the size of a bank, or the smallest power of two at which the map fits. It is at
    least the largest power of two that divides all addresses and sizes.
    """
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
    """Yield (row, column, area) for each character cell of the map that a tile covers partly."""
    low, high = tile.address[1], tile.address[1] + tile.bytes
    rows = [
        (row, min(high, (row + 1) * step) - max(low, row * step))
        for row in range(low // step, -(-high // step))
    ]
    # In units in which a column is `instructions` long and an instruction `width`, all is integral.
    start, end = tile.start * width, (tile.end + 1) * width
    for column in range(start // instructions, -(-end // instructions)):
        time = min(end, (column + 1) * instructions) - max(start, column * instructions)
        for row, part in rows:
            yield (row, column), part * time
