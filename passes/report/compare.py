"""The comparison of two kernels in a report."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nkijit.passes.lower.program import Program
from nkijit.passes.profile.compare import (
    compared_counts,
    compared_figures,
    compared_lines,
    compared_queues,
    ir_text,
)
from nkijit.passes.profile.profile import Profile
from nkijit.passes.report import model
from nkijit.passes.values.bisect import against_record
from nkijit.passes.values.items import RecordError
from nkijit.passes.values.record import Recording


def comparison_of(
    reports: tuple[model.Report, model.Report],
    programs: tuple[Sequence[Program], Sequence[Program]],
    profiles: tuple[Profile, Profile],
    texts: tuple[str, str],
) -> model.Comparison:
    """Compare the kernel of a page with another kernel.

    Args:
        reports: the data of both pages.
        programs: the queues of each core, for both kernels.
        profiles: both profiles.
        texts: the IR of both kernels, with loops.
    """
    names = _names(reports)
    sources = [_main_source(report) for report in reports]
    if sources[0].text == sources[1].text:
        sources = [source.body() for source in sources]
    return model.Comparison(
        names,
        [list(row) for row in compared_figures(*profiles)],
        [list(row) for row in compared_lines(*profiles, names)],
        # The change is from the second to the first, as for figures.
        [[kind, one, other, more] for kind, other, one, more in compared_counts(*programs[::-1])],
        ir_text(texts[1], texts[0], (names[1], names[0])).splitlines(),
        compared_queues(programs[1], programs[0], (names[1], names[0])),
        list(_beside(*sources)),
    )


def departed_of(values: model.ReportValues, record: Recording, other: Recording) -> model.Departed:
    """Return the first difference between the values of two recorded runs.

    `values` are the values of the first run.
    """
    try:
        found = against_record(record, other, f"another run of {other.kernel}")
    except RecordError as error:
        return model.Departed(f"The values are not compared: {error}.", -1)
    if found.departure is None:
        return model.Departed(str(found), -1)
    number = found.departure.instruction.number
    rows = [row for row, step in enumerate(values.steps) if step.number == number]
    return model.Departed(str(found), rows[0] if rows else -1)


def _names(reports: tuple[model.Report, model.Report]) -> tuple[str, str]:
    """Return names for two kernels: their own names, else their files, else "this" and "other"."""
    kernels = [report.kernel for report in reports]
    if kernels[0] != kernels[1]:
        return kernels[0], kernels[1]
    files = [report.sources[0].name if report.sources else "" for report in reports]
    return (files[0], files[1]) if files[0] != files[1] else ("this", "other")


@dataclass(frozen=True, slots=True)
class _Source:
    """The source file that contains most operations of a kernel."""

    text: str
    used: tuple[int, ...]
    """The line numbers of the calls in the kernel's body."""
    start: int = 0
    """The number of lines that precede the compared lines."""
    end: int | None = None

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()[self.start : self.end]

    def body(self) -> _Source:
        """Return the source restricted to the kernel's function, up to its last call."""
        if not self.used:
            return self
        lines = self.text.splitlines()
        start = min(self.used) - 1
        # A function begins after an empty line. An empty line before indented lines is in its body.
        while start > 0 and (lines[start].startswith((" ", "\t")) or lines[start - 1].strip()):
            start -= 1
        return replace(self, start=start, end=max(self.used))


def _main_source(report: model.Report) -> _Source:
    chains = Counter(chain for chain in report.ops.chain if chain >= 0)
    counts = Counter[int]()
    for chain, count in chains.items():
        counts[report.chains[chain][0].source] += count
    if not counts:
        return _Source("", ())
    number = max(counts, key=lambda source: (counts[source], -source))
    outermost = [report.chains[chain][-1] for chain in chains]
    used = tuple(sorted({place.line for place in outermost if place.source == number}))
    return _Source(report.sources[number].text or "", used)


def _beside(one: _Source, other: _Source) -> Iterator[tuple[int, int]]:
    """Yield pairs of corresponding line numbers, equal or changed; 0 for a missing line."""
    matcher = difflib.SequenceMatcher(None, one.lines, other.lines, autojunk=False)
    for _, first, first_end, second, second_end in matcher.get_opcodes():
        for step in range(max(first_end - first, second_end - second)):
            yield (
                one.start + first + step + 1 if first + step < first_end else 0,
                other.start + second + step + 1 if second + step < second_end else 0,
            )
