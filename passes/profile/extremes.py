"""Between which times a kernel's is expected, by what is known of the constants of time.

The same queues are simulated twice more, with all constants that the data file gives a spread for
at their fast and at their slow ends. What the model leaves out is not in the range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nkijit.dialects.hardware.timing import End
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.profile.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of a prediction, in ns."""

    low: float
    high: float
    launch_low: float
    """Of what starting and ending any kernel takes."""
    launch_high: float


def range_of(timeline: Timeline) -> Range:
    """The range of a simulated run's time."""
    times = [timeline.total]
    launches: list[float] = []
    for end in End:
        programs = [_at(program, end) for program in timeline.programs]
        launches.append(programs[0].target.launch_ns(len(programs)))
        again = simulate(programs, iterations=timeline.assumed, limit=timeline.limit)
        times.append(again.total)
    return Range(min(times), max(times), min(launches), max(launches))


def _at(program: Program, end: End) -> Program:
    timing = program.target.timing.at(end)
    return replace(program, target=replace(program.target, timing=timing))
