"""The choice between the compiler's queues and the queues in the author's order.

The compiler chooses orders and engines with a model that has no addresses and no queue waits.
Therefore its program is simulated. If the program is slower than the author's, the compiler's
program with the author's order and engines is simulated as well, and the fastest of the three is
chosen.
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
    try:
        written = simulate(own)
        if all(new.queues is old.queues for new, old in zip(compiled, own, strict=True)):
            return Choice(compiled, replace(written, programs=compiled), written.total)
        best = simulate(compiled)
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
        return Choice(compiled)  # a deadlock between cores, in any order
    if time > before:
        return Choice([replace(program, changes={}) for program in own], own=before)
    return Choice(list(best.programs), best, before)
