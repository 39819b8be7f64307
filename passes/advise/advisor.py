"""`advise`: tries every proposal on a copy of the kernel, and reports those that gain time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.advice import Advice, Suggestion
from nkijit.passes.advise.edit import NotPossibleError, writes
from nkijit.passes.advise.facts import Facts
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
from nkijit.passes.prove.algebra import Level
from nkijit.passes.prove.proof import Side, compared
from nkijit.passes.verify.passes import find_all

THRESHOLD = 0.02
"""The smallest gain that is reported, as a fraction of the kernel's time."""
MOST_TRIED = 40
"""The largest number of experiments on one kernel."""
MOST_INSTRUCTIONS = 80_000
"""The largest number of engine instructions in all experiments together.

Lowering and simulating 10,000 instructions takes a few seconds.
"""

MOST_PROVEN = 1 << 26
"""The work of all proofs together, in elements that are written: at most about 2 s on one core."""
_PRODUCTS = 32
"""The number of products of a matmul that take as long as an element of another instruction."""
_CLAIMED = {Numbers.same: Level.bits, Numbers.rounding: Level.rounding}
"""The levels of kinds of advice; results of other kinds differ."""

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
    levels = _levels(gains, kernels, conditions)
    found = [_suggestion(gain, before, conditions, own, levels) for gain in gains]
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


def _levels(
    gains: Sequence[_Gain], kernels: Sequence[KernelOp], conditions: Conditions
) -> dict[Proposal, Level]:
    """Prove changes while this is cheap, the largest gain first. Returns the proven levels."""
    found: dict[Proposal, Level] = {}
    if conditions.passed_over is not None:
        return found
    old = Side("old", kernels)
    work = sum(_work(kernel) for kernel in kernels)
    spent = 0
    for gain in sorted(gains, key=lambda gain: gain.time):
        spent += work
        claimed = _CLAIMED.get(gain.proposal.kind.numbers)
        if claimed is None or spent > MOST_PROVEN:
            spent -= work
            continue
        level = compared(old, Side("new", gain.kernels), claimed).level
        if level is not None:
            found[gain.proposal] = level
    return found


def _work(kernel: KernelOp) -> int:
    """Return the work of a proof: the number of elements that instructions write."""
    total = 0
    for op in Facts(kernel).instructions:
        written = sum(info_of(value).size for value in writes(op))
        products = info_of(op.moving).shape[0] if isinstance(op, NcMatmulOp) else 1
        total += written * max(_PRODUCTS, products) // _PRODUCTS
    return total


def _suggestion(
    gain: _Gain,
    before: float,
    conditions: Conditions,
    own: float | None,
    levels: Mapping[Proposal, Level],
) -> Suggestion:
    """Return the suggestion that describes a gain.

    `levels` has the proven levels.
    `own` is the time of the unchanged kernel with the compiler's schedule; None if it is not shown.
    """
    after = None
    if own is not None:
        try:
            after = _time(gain.kernels, conditions, Schedule.compiler)
        except (LoweringError, SimulationError):
            own = None
    proposal = gain.proposal
    level = levels.get(proposal, _CLAIMED.get(proposal.kind.numbers))
    return Suggestion(
        kind=proposal.kind.id,
        place=proposal.place(),
        message=proposal.message,
        reasons=proposal.reasons,
        numbers=proposal.kind.numbers.value,
        level=None if level is None else level.value,
        proven=proposal in levels,
        before=before,
        after=gain.time,
        compiled_before=own,
        compiled_after=after,
        by_compiler=own is not None
        and after is not None
        and own - after < THRESHOLD * own
        and own <= gain.time * (1 + THRESHOLD),
    )
