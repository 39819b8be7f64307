"""`advise`: tries every proposal on a copy of the kernel, and reports those that gain time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.advice import Advice, Suggestion
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.kinds import Numbers
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.trials import (
    Change,
    Conditions,
    changed,
    spilled,
    suspicious,
    worthwhile,
)
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.profile.simulate import SimulationError
from nkijit.passes.profile.timeline import Timeline
from nkijit.passes.verify.passes import find_all

THRESHOLD = 0.02
"""The smallest gain that is reported, as a fraction of the kernel's time."""
MOST_TRIED = 40
"""The largest number of experiments on one kernel."""
MOST_INSTRUCTIONS = 80_000
"""The largest number of engine instructions in all experiments together.

Lowering and simulating 10,000 instructions takes a few seconds.
"""

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class _Gain:
    """An experiment that made the kernel faster."""

    proposal: Proposal
    kernels: Sequence[KernelOp]
    time: float


def advise(
    kernels: Sequence[KernelOp], conditions: Conditions, progress: Progress | None = None
) -> Advice:
    """Find changes that would make a kernel faster.

    Args:
        kernels: the verified kernel's program for each core.
        conditions: the conditions that times are predicted for.
        progress: called after each experiment, with the finished fraction (0 to 1).

    Raises:
        LoweringError: the unchanged kernel cannot be lowered.
        SimulationError: the unchanged kernel cannot be simulated.
    """
    timeline = conditions.run(kernels, conditions.schedule)
    before = timeline.total
    found_changes = worthwhile(kernels, timeline, THRESHOLD)
    size = max(1, sum(len(program.instructions) for program in timeline.programs))
    tried = found_changes[: max(4, min(MOST_TRIED, MOST_INSTRUCTIONS // size))]
    gains: list[_Gain] = []

    @cache
    def own_suspicious() -> set[str]:
        return suspicious(find_all(kernels, advise=False))

    for number, alternatives in enumerate(tried, 1):
        gain = _first_gain(alternatives, kernels, conditions, timeline, own_suspicious)
        if gain is not None:
            gains.append(gain)
        if progress is not None:
            progress(number / len(tried))
    own: float | None = None
    if gains and conditions.schedule is Schedule.author:
        own = _time(kernels, conditions, Schedule.compiler)
    found = [_suggestion(gain, before, conditions, own) for gain in gains]
    found.sort(key=lambda one: (one.by_compiler, one.after))
    return Advice(
        kernel=kernels[0].launch_name,
        target=conditions.target.platform,
        schedule=conditions.schedule.value,
        time=before,
        suggestions=tuple(found),
        tried=len(tried),
        left_out=len(found_changes) - len(tried),
        passed_over=str(conditions.passed_over or ""),
    )


def _first_gain(
    alternatives: Sequence[Change],
    kernels: Sequence[KernelOp],
    conditions: Conditions,
    before: Timeline,
    own_suspicious: Callable[[], set[str]],
) -> _Gain | None:
    gains = (_try(c, kernels, conditions, before, own_suspicious) for c in alternatives)
    return next((gain for gain in gains if gain is not None), None)


def _try(
    change: Change,
    kernels: Sequence[KernelOp],
    conditions: Conditions,
    as_it_is: Timeline,
    own_suspicious: Callable[[], set[str]],
) -> _Gain | None:
    """Return the gain of a change if it is possible and at least `THRESHOLD`."""
    proposal = next(p for p in change if p is not None)
    try:
        copies = changed(change, kernels)
        timeline = conditions.run(copies, conditions.schedule)
    except (NotPossibleError, LoweringError, SimulationError):
        return None
    if spilled(timeline) > spilled(as_it_is):
        return None  # SBUF has no free space for it
    before, time = as_it_is.total, timeline.total
    if before - time < THRESHOLD * before:
        return None
    is_sound = conditions.passed_over is not None or proposal.kind.numbers is Numbers.estimate
    if not is_sound:
        found = find_all(copies, advise=False)
        if any(d.severity == "error" for d in found) or not suspicious(found) <= own_suspicious():
            return None
    return _Gain(proposal, copies, time)


def _time(kernels: Sequence[KernelOp], conditions: Conditions, schedule: Schedule) -> float:
    return conditions.run(kernels, schedule).total


def _suggestion(
    gain: _Gain, before: float, conditions: Conditions, own: float | None
) -> Suggestion:
    """Return the suggestion that describes a gain.

    `own` is the time of the unchanged kernel with the compiler's schedule; None if it is not shown.
    """
    after = None
    if own is not None:
        try:
            after = _time(gain.kernels, conditions, Schedule.compiler)
        except (LoweringError, SimulationError):
            own = None
    proposal = gain.proposal
    return Suggestion(
        kind=proposal.kind.id,
        place=proposal.place(),
        message=proposal.message,
        reasons=proposal.reasons,
        numbers=proposal.kind.numbers.value,
        before=before,
        after=gain.time,
        compiled_before=own,
        compiled_after=after,
        by_compiler=own is not None
        and after is not None
        and own - after < THRESHOLD * own
        and own <= gain.time * (1 + THRESHOLD),
    )
