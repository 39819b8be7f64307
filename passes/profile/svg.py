"""The timeline as an SVG picture: time to the right, one row per queue, one bar per instruction.

Bars on the critical path are underlined in red. A description of a bar appears when the pointer is
over the bar. Adjacent bars that are narrower than a pixel are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nkijit.dialects.spelling import counted
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.picture import COLOURS, GRID, INK, LETTER, MARK, ON_COLOUR, Picture
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.profile.timeline import Event, Timeline
from nkijit.passes.profile.units import time_text

_WIDTH, _LEFT, _RIGHT = 1100, 100, 24
_PLOT = _WIDTH - _LEFT - _RIGHT
_ROW, _BAR = 26, 18
_TICKS = 8

Row = tuple[int, str]
"""A core and the name of one of its queues."""


def svg_of(kernel: str, target: str, timeline: Timeline, *, inline: bool = False) -> str:
    """Return the timeline of a kernel as one picture; `inline` as for `Picture.svg`."""
    picture = Picture(_WIDTH)
    end = max(timeline.simulated, 1e-9)
    schedule = Schedule.of(timeline.programs[0]).words
    title = f"Timeline of {kernel} on {target}, {schedule}: {time_text(timeline.total)} predicted"
    picture.text(20, 26, title, size=16, bold=True)
    picture.down(44)
    rows = _rows(timeline)
    critical = {id(step.event) for step in timeline.critical_path()}
    colours = _colours(rows)
    height = _ROW * len(rows)
    _axis(picture, end, height)
    several = len(timeline.programs) > 1
    for (core, queue), events in rows.items():
        name = f"{core}: {queue}" if several else queue
        picture.text(_LEFT - 8, _ROW / 2 + 4, name, size=12, anchor="end")
        bars = list(_bars(events, critical, _PLOT / end))
        # Transfers of a ring overlap: each is visible up to the start of the next.
        ends = [bar.left for bar in bars[1:]] + [float(_PLOT)]
        for bar, until in zip(bars, ends, strict=True):
            _draw(picture, bar, min(until, bar.right), colours[queue])
        picture.down(_ROW)
    picture.down(22)
    if timeline.left_out:
        words = f"{time_text(timeline.left_out)} in further iterations of loops are not drawn"
        picture.text(_LEFT, 10, words, size=11)
        picture.down(18)
    return picture.svg(inline=inline)


def _rows(timeline: Timeline) -> dict[Row, list[Event]]:
    """Return the events of each queue that has events, by core and in the order of the queues."""
    found: dict[Row, list[Event]] = {}
    for core, program in enumerate(timeline.programs):
        for queue in program.queues:
            found[core, queue.name] = []
    for event in timeline.events:
        found[event.core, event.instruction.queue.name].append(event)
    return {row: events for row, events in found.items() if events}


def _colours(rows: dict[Row, list[Event]]) -> dict[str, str]:
    names = dict.fromkeys(queue for _, queue in rows)
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}


class _Bar:
    """One bar: an instruction, or several instructions that are narrower than a pixel."""

    __slots__ = ("critical", "events", "left", "right")

    def __init__(self, event: Event, left: float, right: float, critical: bool):
        self.events = [event]
        self.left, self.right, self.critical = left, right, critical


def _bars(events: Sequence[Event], critical: set[int], scale: float) -> Iterator[_Bar]:
    last: _Bar | None = None
    for event in sorted(events, key=lambda e: e.begin):
        left, right = event.begin * scale, max(event.free, event.begin) * scale
        is_critical = id(event) in critical
        narrow = right - left < 1
        if last is not None and narrow and left - last.right < 0.5 and last.critical == is_critical:
            last.right = max(last.right, right)
            last.events.append(event)
            continue
        if last is not None:
            yield last
        last = _Bar(event, left, right, is_critical)
    if last is not None:
        yield last


def _draw(picture: Picture, bar: _Bar, until: float, colour: str) -> None:
    width = max(bar.right - bar.left, 0.6)
    x, y = _LEFT + bar.left, (_ROW - _BAR) / 2
    first = bar.events[0]
    names = dict.fromkeys(event.instruction.mnemonic for event in bar.events)
    picture.box(
        x, y, width, _BAR, colour, border=0.4 if width > 3 else 0, title=_title(bar, list(names))
    )
    if bar.critical:
        picture.line(x, y + _BAR + 1, x + width, y + _BAR + 1, MARK, 2)
    name = first.instruction.mnemonic
    seen = until - bar.left
    if len(bar.events) == 1 and len(name) * LETTER + 6 < seen:
        picture.text(x + seen / 2, _ROW / 2 + 4, name, size=11, anchor="middle", colour=ON_COLOUR)


def _title(bar: _Bar, names: list[str]) -> str:
    first, last = bar.events[0], bar.events[-1]
    several = f"{counted(len(bar.events), 'instruction')}: " if len(bar.events) > 1 else ""
    end = max(event.free for event in bar.events)
    lines = [
        f"{several}{', '.join(names[:4])}",
        f"{time_text(first.begin)} to {time_text(end)}, {time_text(end - first.begin)}",
    ]
    places = positions(last.instruction.op.location)
    if places:
        lines.append(str(places[0]))
    return "\n".join(lines)


def _axis(picture: Picture, end: float, height: float) -> None:
    step = _round(end / _TICKS)
    count = int(end / step) + 1
    for number in range(count):
        x = _LEFT + number * step / end * _PLOT
        picture.line(x, 0, x, height, GRID, 0.7)
        picture.text(x, height + 14, time_text(number * step), size=11, anchor="middle")
    picture.line(_LEFT, 0, _LEFT, height, INK, 1)
    picture.line(_LEFT, height, _LEFT + _PLOT, height, INK, 1)


def _round(step: float) -> float:
    """Return a step, rounded up to 1, 2 or 5 times a power of ten."""
    power = 1.0
    while power * 10 <= step:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step)
