"""Between which times a kernel's is expected, by what is known of the constants of time.

The same queues are simulated twice more, with all constants that the data file gives a spread for
at their fast and at their slow ends. What the model leaves out is not in the range.
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
    """The ends of a prediction, in ns."""

    low: float
    high: float
    launch_low: float
    """Of what starting and ending any kernel takes."""
    launch_high: float


def range_of(timeline: Timeline) -> Range:
    """The range of a simulated run's time."""
    times = [timeline.total, *times_at_ends(timeline)]
    cores = len(timeline.programs)
    launches = [_at(timeline.programs[0], end).target.launch_ns(cores) for end in End]
    return Range(min(times), max(times), min(launches), max(launches))


@without_collection()
def times_at_ends(timeline: Timeline) -> list[float]:
    """The time of a simulated run for each `End` of the constants, in ns.

    Two kernels are compared end by end: whatever the constants are, they are the same for both.
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
