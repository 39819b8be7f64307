"""Trials of proposals: copies of a launch with one change, and their predicted times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.experiments import proposals_for
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.compile.pipeline import FitPass, program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import Queue
from nkijit.passes.profile.choice import compiled_programs
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.profile.timeline import Event, Timeline


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


Change = list[Proposal | None]
"""The proposal for each core's kernel; None for a kernel that stays unchanged."""


def worthwhile(
    kernels: Sequence[KernelOp],
    timeline: Timeline,
    threshold: float,
    proposals: Callable[[KernelOp], Iterable[Proposal]] = proposals_for,
) -> list[list[Change]]:
    """Return the changes that may gain enough, each as a list of alternatives.

    The bound of a change's gain is the sum of the times of its instructions, and at most the time
    that the Tensor Engine does not need for its other instructions: no compiler pass moves their
    work to another engine. The changes with the largest bounds come first; bounds below the
    fraction `threshold` of the time are left out.
    `proposals` yields the proposals for the kernel of one core.
    """
    times, busy = _times(timeline), _tensor_times(timeline)
    found: dict[Hashable, dict[int, Change]] = {}
    bounds: dict[Hashable, float] = {}
    for core, kernel in enumerate(kernels):
        for proposal in proposals(kernel):
            key = proposal.kind.id, proposal.subject
            alternatives = found.setdefault(key, {})
            if proposal.variant not in alternatives:
                alternatives[proposal.variant] = [None] * len(kernels)
            alternatives[proposal.variant][core] = proposal
            about = set(proposal.about)
            others = sum(time for op, time in busy[core].items() if op not in about)
            bound = min(sum(times.get(op, 0.0) for op in about), timeline.total - others)
            bounds[key] = max(bounds.get(key, 0.0), bound)
    keys = [key for key in found if bounds[key] >= threshold * timeline.total]
    keys.sort(key=lambda key: -bounds[key])
    return [[found[key][variant] for variant in sorted(found[key])] for key in keys]


def changed(change: Change, kernels: Sequence[KernelOp]) -> list[KernelOp]:
    """Return copies of the kernels of all cores with a change in them.

    Raises:
        NotPossibleError: a kernel prevents the change.
    """
    copies: list[KernelOp] = []
    for kernel, own in zip(kernels, change, strict=True):
        edit = Edit(kernel)
        if own is not None:
            own.change(edit)
        copies.append(edit.kernel)
    return copies


def _times(timeline: Timeline) -> dict[Operation, float]:
    """Return the time of each operation: the sum over its engine instructions, in ns."""
    found: dict[Operation, float] = {}
    for event in timeline.events:
        op = _written(event, timeline)
        found[op] = found.get(op, 0.0) + event.end - event.begin
    return found


def _tensor_times(timeline: Timeline) -> list[dict[Operation, float]]:
    """Return the time for which each operation of a core keeps the Tensor Engine busy, in ns."""
    found: list[dict[Operation, float]] = [{} for _ in timeline.programs]
    for event in timeline.events:
        if event.instruction.queue is Queue.tensor:
            op, busy = _written(event, timeline), found[event.core]
            busy[op] = busy.get(op, 0.0) + event.free - event.begin
    return found


def _written(event: Event, timeline: Timeline) -> Operation:
    """Return the operation of the author's kernel that an event's instruction belongs to."""
    op = event.instruction.op
    return timeline.programs[event.core].origins.get(op, op)


def suspicious(found: Iterable[Diagnostic]) -> set[str]:
    """Return the rules of the findings that make a wrong result likely."""
    return {d.rule.id for d in found if d.group is WarningGroup.suspicious}


def spilled(timeline: Timeline) -> int:
    """Return the number of loads and stores that the compiler added or moved to fit SBUF."""
    return sum((program.changes or {}).get(FitPass.name, 0) for program in timeline.programs)
