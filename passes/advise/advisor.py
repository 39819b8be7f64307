"""`advise`: tries every proposal on a copy of the kernel, and reports those that gain time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.ir import Operation

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.passes.advise.advice import Advice, Suggestion
from nkijit.passes.advise.edit import Edit, NotPossibleError
from nkijit.passes.advise.experiments import proposals_for
from nkijit.passes.advise.kinds import Numbers
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.compile.pipeline import FitPass, program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.profile.choice import compiled_programs
from nkijit.passes.profile.simulate import SimulationError, simulate
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
class Conditions:
    """The conditions under which times are predicted."""

    schedule: Schedule
    target: Target
    iterations: int = 1
    passed_over: PassedOver | None = None

    def run(self, kernels: Sequence[KernelOp], schedule: Schedule) -> Timeline:
        """Predict the timeline of a kernel, as shown in its profile."""
        own = [program_of(k, Schedule.author, self.target, self.passed_over) for k in kernels]
        if schedule is Schedule.author:
            return simulate(own, iterations=self.iterations)
        choice = compiled_programs(kernels, own, self.target, self.passed_over)
        if choice.timeline is not None and self.iterations == 1:
            return choice.timeline
        return simulate(choice.programs, iterations=self.iterations)


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
    worthwhile = _worthwhile(kernels, timeline)
    size = max(1, sum(len(program.instructions) for program in timeline.programs))
    tried = worthwhile[: max(4, min(MOST_TRIED, MOST_INSTRUCTIONS // size))]
    gains: list[_Gain] = []

    @cache
    def own_suspicious() -> set[str]:
        return _suspicious(find_all(kernels, advise=False))

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
        left_out=len(worthwhile) - len(tried),
        passed_over=str(conditions.passed_over or ""),
    )


_Change = list[Proposal | None]
"""The proposal for each core's kernel; None for a kernel that stays unchanged."""


def _worthwhile(kernels: Sequence[KernelOp], timeline: Timeline) -> list[list[_Change]]:
    """Return the changes that may gain enough, each as a list of alternatives.

    The bound of a change's gain is the sum of the times of its instructions. The changes with the
    largest bounds come first.
    """
    times = _times(timeline)
    found: dict[Hashable, dict[int, _Change]] = {}
    bounds: dict[Hashable, float] = {}
    for core, kernel in enumerate(kernels):
        for proposal in proposals_for(kernel):
            key = proposal.kind.id, proposal.subject
            alternatives = found.setdefault(key, {})
            if proposal.variant not in alternatives:
                alternatives[proposal.variant] = [None] * len(kernels)
            alternatives[proposal.variant][core] = proposal
            bound = sum(times.get(op, 0.0) for op in proposal.about)
            bounds[key] = max(bounds.get(key, 0.0), bound)
    keys = [key for key in found if bounds[key] >= THRESHOLD * timeline.total]
    keys.sort(key=lambda key: -bounds[key])
    return [[found[key][variant] for variant in sorted(found[key])] for key in keys]


def _first_gain(
    alternatives: Sequence[_Change],
    kernels: Sequence[KernelOp],
    conditions: Conditions,
    before: Timeline,
    own_suspicious: Callable[[], set[str]],
) -> _Gain | None:
    gains = (_try(c, kernels, conditions, before, own_suspicious) for c in alternatives)
    return next((gain for gain in gains if gain is not None), None)


def _times(timeline: Timeline) -> dict[Operation, float]:
    """Return the time of each operation: the sum over its engine instructions, in ns."""
    found: dict[Operation, float] = {}
    for event in timeline.events:
        op = event.instruction.op
        op = timeline.programs[event.core].origins.get(op, op)
        found[op] = found.get(op, 0.0) + event.end - event.begin
    return found


def _try(
    change: _Change,
    kernels: Sequence[KernelOp],
    conditions: Conditions,
    as_it_is: Timeline,
    own_suspicious: Callable[[], set[str]],
) -> _Gain | None:
    """Return the gain of a change if it is possible and at least `THRESHOLD`."""
    proposal = next(p for p in change if p is not None)
    copies: list[KernelOp] = []
    try:
        for kernel, own in zip(kernels, change, strict=True):
            edit = Edit(kernel)
            if own is not None:
                own.change(edit)
            copies.append(edit.kernel)
        timeline = conditions.run(copies, conditions.schedule)
    except (NotPossibleError, LoweringError, SimulationError):
        return None
    if _spilled(timeline) > _spilled(as_it_is):
        return None  # SBUF has no free space for it
    before, time = as_it_is.total, timeline.total
    if before - time < THRESHOLD * before:
        return None
    is_sound = conditions.passed_over is not None or proposal.kind.numbers is Numbers.estimate
    if not is_sound:
        found = find_all(copies, advise=False)
        if any(d.severity == "error" for d in found) or not _suspicious(found) <= own_suspicious():
            return None
    return _Gain(proposal, copies, time)


def _suspicious(found: Iterable[Diagnostic]) -> set[str]:
    """Return the rules of the findings that make a wrong result likely."""
    return {d.rule.id for d in found if d.group is WarningGroup.suspicious}


def _spilled(timeline: Timeline) -> int:
    """Return the number of loads and stores that the compiler added or moved to fit SBUF."""
    return sum((program.changes or {}).get(FitPass.name, 0) for program in timeline.programs)


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
