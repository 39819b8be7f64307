"""Comparison of two kernels: their instructions, queues, IR and predicted time."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath

from nkijit.dialects.engine.queues import QUEUES
from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.tables import aligned
from nkijit.passes.lower.program import EngineInstruction, Item, Program, QueueLoop
from nkijit.passes.lower.texts import Texts
from nkijit.passes.profile.figures import LineUse
from nkijit.passes.profile.profile import Profile
from nkijit.passes.profile.units import bytes_text, flops_text, percent, time_text

MOST_LINES = 10
"""The number of rows in the table of lines."""
MOST_LISTED = 20_000
"""The largest number of a core's instructions, or of lines of IR, that are compared."""
_ADDRESS = re.compile(r"(?<=\[)(\w+) \d+(?=,)|,? ?(?:weights=)?@\d+")
"""Parts of listings that change if any other instruction changes: addresses and buffer numbers."""
_NUMBERED = re.compile(r"(%[\w.]+?)_\d+\b")
"""A name of a value in IR, with the number that makes it unique."""


def profiles_text(first: Profile, second: Profile, names: tuple[str, str]) -> str:
    """Return a table of two profiles' figures, and the lines that differ the most.

    `names` are the headings of the two profiles: their files.
    """
    rows = [("", *names, "change"), *compared_figures(first, second)]
    lines = [f"@{first.kernel} against @{second.kernel}", *_table(rows)]
    found = compared_lines(first, second, names)
    if found:
        table = aligned(found, lambda place, _: place in (1, 2, 3), indent="  ")
        lines += ["", "critical path, where it differs the most", *table]
    return "\n".join(lines) + "\n"


def compared_figures(first: Profile, second: Profile) -> list[tuple[str, ...]]:
    """Return rows of figures: name, first profile, second profile, change from second to first."""

    def row(name: str, of: Callable[[Profile], float], text: Callable[[float], str]) -> None:
        one, other = of(first), of(second)
        rows.append((name, text(one), text(other), _change(one, other)))

    rows: list[tuple[str, ...]] = []
    row("time", lambda p: p.time, time_text)
    row("instructions", lambda p: p.instructions, lambda n: f"{n:,.0f}")
    for queue in QUEUES:
        busy = [_busy(profile, queue.name) for profile in (first, second)]
        if any(busy):
            rows.append((f"{queue.name} busy", *map(time_text, busy), _change(*busy)))
    row("bytes moved", lambda p: sum(m.bytes for m in p.moved), bytes_text)
    row("bytes of HBM", lambda p: p.roofline.hbm_bytes, bytes_text)
    if first.roofline.flops or second.roofline.flops:
        row("achieved", lambda p: p.roofline.achieved, flops_text)
        row("MFU", lambda p: p.mfu, percent)
    row("SBUF at the peak", lambda p: max(m.sbuf for m in p.memory), bytes_text)
    row("PSUM at the peak", lambda p: max(m.psum for m in p.memory), bytes_text)
    rows.append(("bound by", first.bound, second.bound, ""))
    return rows


def _busy(profile: Profile, queue: str) -> float:
    return sum(use.busy for use in profile.queues if use.queue == queue)


def _change(one: float, other: float) -> str:
    """Return the text of the change from the second number to the first."""
    if one == other:
        return "same"
    return f"{100 * (one - other) / other:+.1f}%" if other else "new"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows that consist of a name and figures."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def compared_lines(
    first: Profile, second: Profile, names: tuple[str, str]
) -> list[tuple[str, ...]]:
    """Return the parts of the critical path that differ the most; [] if none differ.

    The first row is a header. Source lines with equal text count as the same line, even at another
    position or in another file. If a kernel has no source, or if a Python kernel is compared with
    an IR file, the mnemonics of instructions are compared instead.
    """
    both = (first, second)
    places = [line.place for profile in both for line in profile.lines if line.place is not None]
    # A line of Python never has the text of a line of IR.
    have_text = len({PurePath(place.file).suffix for place in places}) == 1
    have_text = have_text and all(any(map(_text, profile.lines)) for profile in both)
    paths = [_paths(profile, have_text) for profile in (first, second)]
    rows: list[tuple[float, tuple[str, ...]]] = []
    for key in dict.fromkeys([*paths[0], *paths[1]]):
        one, other = (path.get(key, 0.0) for path in paths)
        if abs(one - other) >= 0.5:
            sign = "+" if one > other else "-"
            text = (
                key[1],
                time_text(one),
                time_text(other),
                sign + time_text(abs(one - other)),
                key[0],
            )
            rows.append((abs(one - other), text))
    if not rows:
        return []
    rows.sort(key=lambda row: -row[0])
    head = ("queue", *names, "change", "line" if have_text else "instruction")
    return [head, *(text for _, text in rows[:MOST_LINES])]


def _paths(profile: Profile, have_text: bool) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for line in profile.lines:
        label = _text(line) if have_text else ""
        key = (label or ", ".join(line.mnemonics), line.queue)
        found[key] = found.get(key, 0.0) + line.path
    return found


def _text(line: LineUse) -> str:
    return "" if line.place is None else line.place.source_line().strip()


# ------------------------------------------------------------------ instructions


def counts_text(first: Sequence[Program], second: Sequence[Program], names: tuple[str, str]) -> str:
    """Return a table of instruction counts by mnemonic. Instructions in loops count once."""
    rows = [("", *names, "change"), *compared_counts(first, second)]
    return "\n".join(["instructions", *_table(rows)]) + "\n"


def compared_counts(
    first: Sequence[Program], second: Sequence[Program]
) -> list[tuple[str, str, str, str]]:
    """Return rows of instruction counts: mnemonic, first kernel, second kernel, and the change."""
    counts = [_counts(programs) for programs in (first, second)]
    rows: list[tuple[str, str, str, str]] = []
    for queue, mnemonic in sorted(set(counts[0]) | set(counts[1])):
        one, other = (count[queue, mnemonic] for count in counts)
        change = f"{other - one:+}" if other != one else "same"
        rows.append((f"{QUEUES[queue].name} {mnemonic}", f"{one:,}", f"{other:,}", change))
    return rows


def _counts(programs: Sequence[Program]) -> Counter[tuple[int, str]]:
    return Counter(
        (i.queue.value, i.mnemonic) for program in programs for i in program.instructions
    )


def queues_text(first: Sequence[Program], second: Sequence[Program], names: tuple[str, str]) -> str:
    """Return the text of `compared_queues`."""
    return "\n".join(compared_queues(first, second, names)) + "\n"


def compared_queues(
    first: Sequence[Program], second: Sequence[Program], names: tuple[str, str]
) -> list[str]:
    """Return the differences between the queues of two kernels as a unified diff or a sentence.

    Addresses, buffer numbers, waits and signals are omitted, because every change of an instruction
    changes them.
    """
    if max(len(p.instructions) for p in (*first, *second)) > MOST_LISTED:
        return [
            f"queues of more than {counted(MOST_LISTED, 'instruction')} are not compared line by "
            "line"
        ]
    one, other = ([row for p in programs for row in _rows(p)] for programs in (first, second))
    if one == other:
        return ["the queues run the same instructions"]
    return list(difflib.unified_diff(one, other, *names, n=1, lineterm=""))


def _rows(program: Program) -> Iterator[str]:
    texts = Texts(program)
    for queue, items in program.queues.items():
        yield f"{queue.name}:"
        yield from _block(items, texts, "  ")


def _block(items: Sequence[Item], texts: Texts, indent: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, EngineInstruction):
            yield indent + _ADDRESS.sub(lambda m: m[1] or "", texts.instruction(item)).rstrip()
        elif isinstance(item, QueueLoop):
            yield f"{indent}{texts.loop(item.body.op)} {{"
            yield from _block(item.items, texts, indent + "  ")
            yield indent + "}"


# ------------------------------------------------------------------ IR


def ir_text(first: str, second: str, names: tuple[str, str]) -> str:
    """Return the differences between the IR of two kernels.

    Value names that differ only in a number (`%x_1`) count as equal, because the number depends on
    earlier values. Equal lines are shown as in the second kernel.
    """
    texts = first.splitlines(), second.splitlines()
    if max(map(len, texts)) > MOST_LISTED:
        return f"IR of more than {counted(MOST_LISTED, 'line')} is not compared line by line\n"
    one, other = ([_NUMBERED.sub(r"\1", line) for line in text] for text in texts)
    if one == other:
        return "the IR is the same\n"
    lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    for group in difflib.SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes():
        starts = (group[0][1], group[-1][2]), (group[0][3], group[-1][4])
        removed, added = (f"{start + 1},{end - start}" for start, end in starts)
        lines.append(f"@@ -{removed} +{added} @@")
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += (f" {line}" for line in texts[1][c:d])
            else:
                lines += (f"-{line}" for line in texts[0][a:b])
                lines += (f"+{line}" for line in texts[1][c:d])
    return "\n".join(lines) + "\n"
