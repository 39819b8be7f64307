"""Time of tracing, verification, lowering and profiling, relative to bare creation.

The kernel reuses its tiles and views, so most of its instructions are equivalent.
"""

from __future__ import annotations

from benchmarks.cold import bare_creation
from benchmarks.kernels import reused
from benchmarks.measuring import Ratio, in_turn, seconds
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.analysis.flow.dependences import Dependences
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.schedule import lower
from nkijit.passes.profile.profile import profile_of
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.verify.passes import WHOLE, VerificationPass, find_all

TRACING_LIMIT = 2.0
"""Limit for tracing, relative to bare creation."""
PASSES_LIMIT = 7.0
"""Limit for all verification passes, including their warnings, relative to bare creation."""
LOWERING_LIMIT = 13.0
"""Limit for lowering, listing and profile, relative to bare creation. The range of a profile takes
two further simulations."""


def tracing(rounds: int) -> Ratio:
    """Time tracing relative to bare creation, in µs per instruction."""
    instructions = 10_000
    measured = reused(instructions)
    create = bare_creation(measured.fresh().module)
    return in_turn(measured.fresh, create, rounds, 1e-6 * instructions)


def verification(instructions: int, rounds: int) -> Ratio:
    """Time all verification passes relative to bare creation, in ms."""
    module = reused(instructions).fresh().module
    kernels = kernels_of(module)
    return in_turn(lambda: find_all(kernels), bare_creation(module), rounds, 1e-3)


def predict(kernel: KernelOp) -> None:
    """Lower a kernel and make its listing and profile."""
    program = lower(kernel)
    listing(program)
    str(profile_of(simulate([program])))


def lowering(instructions: int, rounds: int) -> Ratio:
    """Time lowering, listing and profile relative to bare creation, in ms."""
    module = reused(instructions).fresh().module
    (lowered,) = kernels_of(module)
    return in_turn(lambda: predict(lowered), bare_creation(module), rounds, 1e-3)


def by_pass(kernel: KernelOp, instructions: int) -> dict[str, float]:
    """Time each verification pass, in µs per instruction."""
    spent: dict[str, float] = {}
    for each in WHOLE:
        found = each()
        program = Dependences(kernel)

        def run(check: VerificationPass = found, program: Dependences = program) -> None:
            list(check.find(kernel))
            list(check.find_together([kernel]))
            list(check.advise(program))

        spent[found.name] = seconds(run) / instructions * 1e6
    return spent
