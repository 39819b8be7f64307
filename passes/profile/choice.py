"""What a compiler makes of a kernel, where that is for the better.

Orders and engines are chosen by runs that know no addresses and no waits of queues. The program
that comes out of them is simulated, and where it takes longer than the author's, one with the
author's order and engines is tried, and the author's own is taken if that is the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.pipeline import ORDERING, lowered
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.simulate import SimulationError, simulate


def compiled_programs(
    kernels: Sequence[KernelOp],
    own: Sequence[Program],
    target: Target,
    passed_over: PassedOver | None = None,
) -> list[Program]:
    """The queues of each core as a compiler would have them.

    Args:
        kernels: the verified kernels of all cores.
        own: their queues as the author has them; as the compiler has them, if they do not fit.
        target: the hardware.
        passed_over: see `lowered`.
    """
    made = [lowered(kernel, Schedule.compiler, target, passed_over) for kernel in kernels]
    if own[0].changes is not None:
        return made
    try:
        before = simulate(own).total
        best, time = made, simulate(made).total
        if time > before:
            quiet = [
                lowered(kernel, Schedule.compiler, target, passed_over, without=ORDERING)
                for kernel in kernels
            ]
            again = simulate(quiet).total
            best = quiet if again <= min(time, before) else best
            time = min(time, again)
    except SimulationError:
        return made  # cores that never meet: whose order it is does not matter
    if time > before:
        return [replace(program, changes={}) for program in own]
    return best
