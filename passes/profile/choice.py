"""What a compiler makes of a kernel, where that is for the better.

Orders and engines are chosen by runs that know no addresses and no waits of queues. The program
that comes out of them is simulated, and where it takes longer than the author's, one with the
author's order and engines is tried, and the author's own is taken if that is the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.pipeline import ORDERING, program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.simulate import SimulationError, simulate
from nkijit.passes.profile.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Choice:
    """The queues that were chosen, with what is known of them by then."""

    programs: list[Program]
    timeline: Timeline | None = None
    """Their simulated run, if they were simulated: loops whose count is not known run once."""
    own: float | None = None
    """The time of the author's own in such a run."""


def compiled_programs(
    kernels: Sequence[KernelOp],
    own: Sequence[Program],
    target: Target,
    passed_over: PassedOver | None = None,
) -> Choice:
    """The queues of each core as a compiler would have them.

    Args:
        kernels: the verified kernels of all cores.
        own: their queues as the author has them; as the compiler has them, if they do not fit.
        target: the hardware.
        passed_over: see `program_of`.
    """
    if own[0].changes is not None:
        return Choice(
            [program_of(kernel, Schedule.compiler, target, passed_over) for kernel in kernels]
        )
    made = [
        program_of(kernel, Schedule.compiler, target, passed_over, own=program)
        for kernel, program in zip(kernels, own, strict=True)
    ]
    try:
        written = simulate(own)
        if all(new.queues is old.queues for new, old in zip(made, own, strict=True)):
            return Choice(made, replace(written, programs=made), written.total)
        best = simulate(made)
        before, time = written.total, best.total
        if time > before:
            quiet = simulate(
                [
                    program_of(kernel, Schedule.compiler, target, passed_over, without=ORDERING)
                    for kernel in kernels
                ]
            )
            best = quiet if quiet.total <= min(time, before) else best
            time = min(time, quiet.total)
    except SimulationError:
        return Choice(made)  # cores that never meet: whose order it is does not matter
    if time > before:
        return Choice([replace(program, changes={}) for program in own], own=before)
    return Choice(list(best.programs), best, before)
