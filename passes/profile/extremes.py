"""The range of a predicted time, and the times with the ends of uncertain timing constants.

The range of a time is the spread of published times around predictions of such kernels. To compare
two kernels, errors that both have do not matter: their queues are simulated twice more, with the
fastest plausible value of each uncertain constant, and with the slowest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.timing import End
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.figures import Figures
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.profile.spread import basis_of
from nkijit.passes.profile.timeline import Timeline


@dataclass(frozen=True, slots=True, repr=False)
class Range(ShownFields):
    """The lowest and the highest time to expect, in ns."""

    low: float
    high: float
    launch_low: float
    """The lowest time in ns to launch and end any kernel."""
    launch_high: float
    basis: str
    """The kernels whose published times give the range, as in `spread.py`."""
    spread: float
    """The relative deviation that 80% of their published times do not exceed."""
    published: int
    """The number of their published times."""


def range_of(figures: Figures, timeline: Timeline) -> Range:
    """Return the range of a run's time."""
    cores, time = len(timeline.programs), figures.time
    launches = [_at(timeline.programs[0], end).target.launch_ns(cores) for end in End]
    basis = basis_of(figures)
    low, high = basis.ends(time)
    return Range(low, high, min(launches), max(launches), *basis)


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
    return replace(program, target=replace(program.target, other_timing=timing))
