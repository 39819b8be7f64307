"""The text of a profile for a terminal: tables, and bars of characters."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.spelling import counted, numbered
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.tables import aligned
from nkijit.passes.profile.extremes import Range
from nkijit.passes.profile.figures import Figures, LineUse, QueueUse, Stall
from nkijit.passes.profile.units import bytes_text, flops_text, percent, range_text, time_text

BAR = 30
"""The length of a bar in characters."""
DISAGREES = 1.3
"""The ratio of the author's to the compiled time from which a line comments on the difference."""
MOST_ROWS = 10
"""The maximum number of rows in the tables of lines and of waits."""
_BUSY, _WAITING, _IDLE = "#", "-", "."
_RIGHT = frozenset({"instructions", "busy", "waits", "idle", "time", "share", "bytes", "transfers",
                    "descriptor", "rate", "times"})  # fmt: skip
"""The columns that contain numbers."""


def text_of(profile: Figures, ends: Range, headline: str, author: float | None) -> str:
    """Return the whole summary, with a closing newline; `headline` names the schedule."""
    parts = [
        _head(profile, ends, headline, author),
        _engines(profile),
        _bounds(profile),
        _dma(profile),
        _path(profile),
        _stalls(profile),
        _notes(profile),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    return aligned(rows, lambda _, name: name in _RIGHT, indent="  ")


def place_text(place: Position | None) -> str:
    """Return a line's place, e.g. `kernel.py:14`; "" for None."""
    return "" if place is None else place.brief


def _head(profile: Figures, ends: Range, headline: str, author: float | None) -> list[str]:
    cores = len(profile.memory)
    on = f" on {numbered(cores, 'core')}" if cores > 1 else ""
    lines = [str(profile.passed_over)] if profile.passed_over else []
    lines += [
        headline,
        f"profile of @{profile.kernel} for {profile.target}{on}: "
        f"{range_text(profile.time, ends.low, ends.high)}, "
        f"{counted(profile.instructions, 'instruction')}",
        "  predicted, not measured; starting and ending a kernel takes about "
        f"{time_text(profile.launch)} more",
    ]
    if profile.instructions:
        lines.append(
            f"  the range is ±{ends.spread:.0%}: it contains 80% of "
            f"{numbered(ends.published, 'published time')} of {ends.basis} kernels"
        )
    if author is not None:
        resource, share = profile.shares[0] if profile.shares else ("", 0.0)
        busiest = f" ({resource})" if resource else ""
        bound = profile.time * share
        lines.append(
            f"  author {time_text(author)}, compiled {time_text(profile.time)}, "
            f"bound {time_text(bound)}{busiest}"
        )
        if author > DISAGREES * profile.time:
            lines.append(
                f"  author is {author / profile.time:.1f} times compiled; published times of such "
                "kernels are nearer to compiled"
            )
    for use in profile.memory:
        name = f"core {use.core}: " if cores > 1 else ""
        sbuf = percent(use.sbuf / use.sbuf_capacity)
        psum = percent(use.psum / use.psum_capacity)
        lines.append(f"  {name}{sbuf} of SBUF and {psum} of PSUM in use at the peak")
    return lines


def _engines(profile: Figures) -> list[str]:
    cores = len(profile.memory)
    rows = [("core", "queue", "instructions", "busy", "waits", "idle", "", "waits for")]
    rows += [_engine(profile, use, cores) for use in profile.queues]
    if len(rows) == 1:
        return []
    legend = f"  {_BUSY} busy, {_WAITING} waits, {_IDLE} idle behind its last instruction"
    return [*_table(rows), legend]


def _engine(profile: Figures, use: QueueUse, cores: int) -> tuple[str, ...]:
    waits = ", ".join(
        f"{wait.reason} {time_text(wait.time)}" for wait in use.waits[:2] if wait.time >= 0.5
    )
    return (
        str(use.core) if cores > 1 else "",
        use.queue,
        f"{use.instructions:,}",
        percent(use.busy / profile.time if profile.time else 0.0),
        percent(use.waiting / profile.time if profile.time else 0.0),
        percent(use.idle / profile.time if profile.time else 0.0),
        _bar(use, profile.time),
        waits,
    )


def _bar(use: QueueUse, time: float) -> str:
    if not time:
        return _IDLE * BAR
    busy = min(BAR, round(BAR * use.busy / time))
    waiting = min(BAR - busy, round(BAR * use.waiting / time))
    return _BUSY * busy + _WAITING * waiting + _IDLE * (BAR - busy - waiting)


def _bounds(profile: Figures) -> list[str]:
    busiest = ", ".join(f"{name} {percent(share)}" for name, share in profile.shares[:3])
    lines = [f"bound by {profile.bound}" + (f": {busiest} busy" if busiest else "")]
    roof = profile.roofline
    if roof.flops:
        lines += [
            f"  {flops_text(roof.achieved)} of {flops_text(roof.peak)}: "
            f"MFU {percent(profile.mfu)}, {percent(profile.mfu_active)} of the Tensor Engine's "
            "busy time",
            f"  {roof.intensity:.1f} flops for each byte of HBM allow at most "
            f"{flops_text(roof.attainable)}, a limit of {_LIMITS[roof.bound]}",
        ]
    return lines


_LIMITS = {"compute": "the Tensor Engine", "memory": "the bandwidth of HBM"}
"""The hardware that sets the maximum speed at a kernel's intensity, by `Roofline.bound`."""


def _dma(profile: Figures) -> list[str]:
    if not profile.moved:
        return []
    rows = [("DMA", "transfers", "bytes", "descriptor", "rate")]
    rows += [
        (
            moved.direction,
            f"{moved.transfers:,}",
            bytes_text(moved.bytes),
            bytes_text(moved.bytes / moved.descriptors if moved.descriptors else 0),
            f"{moved.bytes_per_ns:.1f} GB/s",
        )
        for moved in profile.moved
    ]
    used = f"  {percent(profile.dma_utilization)} of what the DMA engines could move"
    return [*_table(rows), used]


def _path(profile: Figures) -> list[str]:
    lines = [line for line in profile.lines if line.share > 0]
    if not lines:
        return []
    rows = [("line", "queue", "instruction", "time", "share", "begins after")]
    rows += [_path_row(line) for line in lines[:MOST_ROWS]]
    return ["critical path, by lines", *_table(rows), *_others(lines[MOST_ROWS:])]


def _path_row(line: LineUse) -> tuple[str, ...]:
    return (
        place_text(line.place),
        line.queue,
        ", ".join(line.mnemonics[:2]) + (", ..." if len(line.mnemonics) > 2 else ""),
        time_text(line.path),
        percent(line.share),
        line.reason,
    )


def _others(lines: Sequence[LineUse]) -> list[str]:
    if not lines:
        return []
    share = percent(sum(line.share for line in lines))
    return [f"  and {len(lines)} more, {share} together"]


def _stalls(profile: Figures) -> list[str]:
    if not profile.stalls:
        return []
    rows = [("line", "queue", "waits for", "at", "because of", "times", "time")]
    rows += [_stall_row(stall) for stall in profile.stalls[:MOST_ROWS]]
    return ["engines wait the longest", *_table(rows)]


def _stall_row(stall: Stall) -> tuple[str, ...]:
    tile = "" if stall.tile is None else f"%{stall.tile}"
    kind = "" if stall.kind is None else f" ({stall.kind})"
    return (
        place_text(stall.place),
        stall.queue,
        stall.before or stall.reason,
        place_text(stall.before_place),
        tile + kind,
        f"{stall.count:,}",
        time_text(stall.time),
    )


def _notes(profile: Figures) -> list[str]:
    return [f"note: {loop}" for loop in profile.loops]
