"""The range of a predicted time that results from the uncertainty of the timing constants.

The same queues are simulated twice more: with all uncertain constants at their fast ends, and with
all at their slow ends. Errors of the model itself are not included.
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
    """The lower and upper end of a predicted time, in ns."""

    low: float
    high: float
    launch_low: float
    """The lower end of the time in ns to launch and end any kernel."""
    launch_high: float


def range_of(timeline: Timeline) -> Range:
    """Return the range of a simulated run's time."""
    times = [timeline.total, *times_at_ends(timeline)]
    cores = len(timeline.programs)
    launches = [_at(timeline.programs[0], end).target.launch_ns(cores) for end in End]
    return Range(min(times), max(times), min(launches), max(launches))


@without_collection()
def times_at_ends(timeline: Timeline) -> list[float]:
    """Return two times in ns of a simulated run: with all constants at their fast and slow ends.

    Compare two kernels end by end, because both use the same constants.
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
