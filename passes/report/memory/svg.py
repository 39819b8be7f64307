"""The memory map as a picture: time to the right, addresses upwards, one rectangle per tile.

The SVG is self-contained: no external fonts, style sheets or scripts. The name of a tile appears
when the pointer is over its rectangle. Tiles in different partitions are drawn in separate panels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT
from nkijit.dialects.spelling import counted
from nkijit.passes.analysis.memory.map import CoreMap, MemoryMap, SpaceMap, TileMap
from nkijit.passes.analysis.memory.words import headline_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.picture import COLOURS, GRID, INK, LETTER, MARK, ON_COLOUR, Picture

_WIDTH, _LEFT, _RIGHT = 1100, 100, 24
_PLOT = _WIDTH - _LEFT - _RIGHT
_PANEL, _SMALL_PANEL, _BANK = 300, 130, 26
_MOST_NAMES = 16
"""The largest number of names in the legend."""

Panel = tuple[str, "list[TileMap]"]


def svg_of(report: MemoryMap, *, inline: bool = False) -> str:
    """Return the whole report as one picture; `inline` as for `Picture.svg`."""
    picture = Picture(_WIDTH)
    for core in report.cores:
        name = f", core {core.core}" if len(report.cores) > 1 else ""
        title = f"Memory of {report.kernel} on {report.target}{name}, {Schedule.author.words}"
        picture.text(20, 30, title, size=18, bold=True)
        picture.down(44)
        for space in core.spaces:
            _space(picture, core, space)
    return picture.svg(inline=inline)


def _space(picture: Picture, core: CoreMap, space: SpaceMap) -> None:
    if not space.tiles:
        picture.text(20, 22, f"{space.name}: no tiles", size=14, bold=True)
        picture.down(36)
        return
    picture.text(
        20,
        22,
        headline_of(space),
        size=14,
        bold=True,
    )
    place = "" if space.peak_place is None else f" at {space.peak_place}"
    picture.text(
        20,
        40,
        f"peak: instruction {space.peak_at}, {space.peak_instruction}{place}",
        colour=MARK,
    )
    colours = _colours(space.tiles)
    picture.down(52)
    _legend(picture, space, colours)
    panels = _panels(space)
    for number, (name, tiles) in enumerate(panels):
        _panel(picture, core, space, name, tiles, colours, len(panels) > 1)
        if number + 1 < len(panels):
            picture.down(6)
    _time_axis(picture, core)


def _colours(tiles: Iterable[TileMap]) -> dict[str, str]:
    """Return a colour for each name of tiles; the largest tiles have different colours."""
    names = dict.fromkeys(tile.name for tile in sorted(tiles, key=lambda t: -t.bytes))
    return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}


def _legend(picture: Picture, space: SpaceMap, colours: dict[str, str]) -> None:
    """Draw the legend: the colours of the names of tiles, the largest tiles first."""
    x, y = float(_LEFT), 4.0
    for name, colour in [*colours.items()][:_MOST_NAMES]:
        tiles = [tile for tile in space.tiles if tile.name == name]
        largest = max(tiles, key=lambda tile: tile.bytes)
        count = f", {counted(len(tiles), 'tile')}" if len(tiles) > 1 else ""
        words = f"{name} {largest.size}, {largest.bytes:,} B{count}"
        width = 30 + LETTER * len(words)
        if x > _LEFT and x + width > _WIDTH - _RIGHT:
            x, y = float(_LEFT), y + 18
        picture.box(x, y, 12, 12, colour)
        picture.text(x + 17, y + 10, words, size=11)
        x += width
    if len(colours) > _MOST_NAMES:
        words = f"and {counted(len(colours) - _MOST_NAMES, 'name')} of smaller tiles"
        if x > _LEFT and x + LETTER * len(words) > _WIDTH - _RIGHT:
            x, y = float(_LEFT), y + 18
        picture.text(x, y + 10, words, size=11)
    picture.down(y + 22)


def _panels(space: SpaceMap) -> list[Panel]:
    """Return one panel for all partitions, or several if tiles are in different partitions."""
    if all(tile.address[0] == 0 for tile in space.tiles):
        return [("", list(space.tiles))]
    end = max(tile.address[0] + tile.partitions for tile in space.tiles)
    step = PARTITIONS_PER_QUADRANT
    quadrants = [
        (first, [t for t in space.tiles if _is_in(t, first, first + step)])
        for first in range(0, end, step)
    ]
    panels: list[Panel] = []
    for _, same in groupby(quadrants, key=lambda item: [id(tile) for tile in item[1]]):
        members = list(same)
        last = members[-1][0] + step - 1
        panels.append((f"partitions {members[0][0]} to {last}", members[0][1]))
    return panels


def _is_in(tile: TileMap, first: int, end: int) -> bool:
    return tile.address[0] < end and first < tile.address[0] + tile.partitions


def _panel(
    picture: Picture,
    core: CoreMap,
    space: SpaceMap,
    name: str,
    tiles: Sequence[TileMap],
    colours: dict[str, str],
    is_small: bool,
) -> None:
    top = _top_of(space)
    height = _SMALL_PANEL if is_small else _PANEL
    if space.bank is not None:
        height = _BANK * -(-top // space.bank)
    if name:
        picture.text(_LEFT, 12, name, size=12, bold=True)
        picture.down(20)
    picture.down(8)
    _address_axis(picture, space, top, height)
    scale_x, scale_y = _PLOT / core.instructions, height / top
    drawn: set[tuple[int, ...]] = set()
    for tile in tiles:
        x, width = _LEFT + tile.start * scale_x, (tile.end - tile.start + 1) * scale_x
        y = height - (tile.address[1] + tile.bytes) * scale_y
        # One of several rectangles that look the same is enough.
        spot = (int(2 * x), int(2 * width), tile.address[1], tile.bytes)
        if width >= 1 or spot not in drawn:
            drawn.add(spot)
            _tile(picture, tile, (x, y, max(width, 0.5), tile.bytes * scale_y), colours[tile.name])
    peak = _LEFT + (space.peak_at + 0.5) * scale_x
    picture.line(peak, -6, peak, height, MARK, 1.5, "5 3")
    picture.line(_LEFT, height, _LEFT + _PLOT, height, INK, 1)
    picture.line(_LEFT, 0, _LEFT, height, INK, 1)
    _limit(picture, space, top, height)
    picture.down(height + 8)


def _top_of(space: SpaceMap) -> int:
    """Return the byte at the upper edge: the capacity, unless little of the memory is used."""
    highest = max(space.capacity, space.height)
    if space.bank is not None:
        return -(-highest // space.bank) * space.bank
    if 4 * space.height >= space.capacity:
        return highest * 21 // 20
    return -(-space.height * 9 // 8)


def _address_axis(picture: Picture, space: SpaceMap, top: int, height: float) -> None:
    if space.bank is not None:
        for bank in range(-(-top // space.bank)):
            y = height - (bank + 0.5) * _BANK
            picture.text(_LEFT - 8, y + 4, f"bank {bank}", size=11, anchor="end")
            picture.line(_LEFT, y - _BANK / 2, _LEFT + _PLOT, y - _BANK / 2, GRID, 1)
        return
    step = _round(top / (8 if height > _SMALL_PANEL else 4))
    for byte in range(0, top, step):
        y = height - byte * height / top
        picture.line(_LEFT, y, _LEFT + _PLOT, y, GRID, 0.7)
        picture.text(_LEFT - 8, y + 4, f"{byte:,}", size=11, anchor="end")


def _limit(picture: Picture, space: SpaceMap, top: int, height: float) -> None:
    if space.capacity <= top:
        y = height - space.capacity * height / top
        picture.line(_LEFT, y, _LEFT + _PLOT, y, INK, 2)
        if space.bank is None or space.height > space.capacity:
            words = f"capacity {counted(space.capacity, 'byte')}"
            width = LETTER * len(words) + 8
            picture.box(_LEFT + _PLOT - width, y - 16, width + 2, 15, "#FFFFFF", border=0)
            picture.text(_LEFT + _PLOT, y - 4, words, size=11, bold=True, anchor="end")
    else:
        words = (
            f"capacity: {counted(space.capacity, 'byte')}, {space.capacity / top:.1f} times this "
            "height"
        )
        picture.text(_LEFT + _PLOT, 10, words, size=11, anchor="end")


def _tile(
    picture: Picture, tile: TileMap, box: tuple[float, float, float, float], colour: str
) -> None:
    x, y, width, height = box
    border = 0.6 if width >= 3 and height >= 2 else 0.15
    picture.box(
        x,
        y,
        width,
        height,
        colour,
        border=1.6 if tile.fixed and border == 0.6 else border,
        dash="4 2" if tile.fixed else "",
        title=_title(tile),
    )
    words = f"{tile.name} {tile.size}"
    if height >= 13 and width >= 4 * LETTER:
        letters = int((width - 6) / LETTER)
        short = words if len(words) <= letters else tile.name
        if len(short) <= letters:
            middle = x + width / 2
            picture.text(
                middle, y + height / 2 + 4, short, size=11, anchor="middle", colour=ON_COLOUR
            )


def _title(tile: TileMap) -> str:
    first, last = tile.first_use, tile.last_use
    lines = [
        f"{tile.name}: {tile.size}",
        f"{counted(tile.bytes, 'byte')} per partition in partitions {tile.address[0]} to "
        f"{tile.address[0] + tile.partitions - 1}",
        f"at byte {tile.address[1]:,}" + (", fixed by the author" if tile.fixed else ""),
        f"in use from instruction {tile.start} to {tile.end}",
    ]
    if tile.allocated is not None:
        lines.append(f"allocated at {tile.allocated}")
    if first is not None and last is not None:
        lines += [f"first used at {first}", f"last used at {last}"]
    return "\n".join(lines)


def _time_axis(picture: Picture, core: CoreMap) -> None:
    scale = _PLOT / core.instructions
    step = _round(core.instructions / 10)
    for number in range(0, core.instructions, step):
        x = _LEFT + (number + 0.5) * scale
        picture.line(x, -8, x, -3, INK, 1)
        picture.text(x, 10, f"{number:,}", size=11, anchor="middle")
    y = 18.0
    for loop in core.loops:
        x = _LEFT + loop.start * scale
        where = "" if loop.place is None else f" at {loop.place}"
        words = f"loop{where}"
        width = (loop.end - loop.start + 1) * scale
        picture.box(x, y, width, 14, "#EEEEEE", title=words)
        if len(words) * LETTER < width:
            picture.text(x + width / 2, y + 11, words, size=10, anchor="middle")
        y += 17
    picture.text(_LEFT - 8, 10, "instruction", size=11, anchor="end")
    picture.down(y + 14)


def _round(least: float) -> int:
    """Return a number, rounded up to 1, 2, 5, 10, 20, …."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10
