"""The range of a predicted time that results from the uncertainty of the timing constants.

The same queues are simulated twice more: with the fastest plausible value of each uncertain
constant, and with the slowest. Errors of the model itself are not included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.timing import End
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.profile.timeline import Timeline


@dataclass(frozen=True, slots=True, repr=False)
class Range(ShownFields):
    """The lowest and the highest predicted time, in ns."""

    low: float
    high: float
    launch_low: float
    """The lowest predicted time in ns to launch and end any kernel."""
    launch_high: float


def range_of(timeline: Timeline) -> Range:
    """Return the lowest and highest predicted time of a run, given uncertain timing constants."""
    times = [timeline.total, *times_at_ends(timeline)]
    cores = len(timeline.programs)
    launches = [_at(timeline.programs[0], end).target.launch_ns(cores) for end in End]
    return Range(min(times), max(times), min(launches), max(launches))


@without_collection()
def times_at_ends(timeline: Timeline) -> list[float]:
    """Return the time in ns of a run with the fastest value of each constant, and with the slowest.

    To compare two kernels, compare their first times, and their second times: each pair uses the
    same constants.
    """
    return [
        simulate(
            [_at(program, end) for program in timeline.programs],
            iterations=timeline.assumed,
            limit=timeline.limit,
        ).total
        for end in End
    ]


def _at(program: Program, end: End) -> Program:
    timing = program.target.timing.at(end)
    return replace(program, target=replace(program.target, timing=timing))
