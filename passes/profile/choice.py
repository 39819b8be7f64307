"""The choice between the compiler's queues and the queues in the author's order.

The compiler chooses orders and engines with a model that has no addresses, no queue waits and no
loads of activation tables. Therefore its program is simulated. If the Scalar Engine loads tables
again that it has held before, because copies have moved to it, the program with the author's
engines is simulated as well; if the program is slower than the author's, the compiler's program
with the author's order and engines. The fastest is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.pipeline import ORDERING, SpreadEnginesPass, program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import Program, What
from nkijit.passes.profile.simulate import SimulationError, simulate
from nkijit.passes.profile.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen queues, and the results of their simulation."""

    programs: list[Program]
    timeline: Timeline | None = None
    """The simulated run of the chosen queues, if there was one.

    In this run, loops with unknown trip counts run once.
    """
    own: float | None = None
    """The simulated time of the author's queues, in ns; None if they were not simulated."""


def compiled_programs(
    kernels: Sequence[KernelOp],
    own: Sequence[Program],
    target: Target,
    passed_over: PassedOver | None = None,
) -> Choice:
    """Return the compiler's queues for each core, or the author's queues where these are faster.

    Args:
        kernels: the verified kernels of all cores.
        own: the queues in the author's order; in the compiler's if the kernel does not fit into
            memory otherwise.
        passed_over: see `program_of`.
    """
    if own[0].changes is not None:
        return Choice(
            [program_of(kernel, Schedule.compiler, target, passed_over) for kernel in kernels]
        )
    compiled = [
        program_of(kernel, Schedule.compiler, target, passed_over, own=program)
        for kernel, program in zip(kernels, own, strict=True)
    ]

    def without(*names: str) -> Timeline:
        return simulate(
            [
                program_of(kernel, Schedule.compiler, target, passed_over, without=names)
                for kernel in kernels
            ]
        )

    try:
        written = simulate(own)
        if all(new.queues is old.queues for new, old in zip(compiled, own, strict=True)):
            return Choice(compiled, replace(written, programs=compiled), written.total)
        best, before = simulate(compiled), written.total
        if sum(map(_reloads, compiled)) > sum(map(_reloads, own)):
            best = min(without(SpreadEnginesPass.name), best, key=_total)
        if best.total > before:
            best = min(without(*ORDERING), best, key=_total)
    except SimulationError:
        return Choice(compiled)  # a deadlock between cores, in any order
    if best.total > before:
        return Choice([replace(program, changes={}) for program in own], own=before)
    return Choice(list(best.programs), best, before)


def _total(timeline: Timeline) -> float:
    return timeline.total


def _reloads(program: Program) -> int:
    """Return how often the Scalar Engine loads an activation table that it has held before."""
    loads = [each.table for each in program.instructions if each.what is What.load_table]
    return len(loads) - len(set(loads))
