"""Random kernels without one of their instructions."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from support.kernel_parts import random_kernel
from support.odd_kernels import odd_kernel
from support.random_kernels import PARTS, TARGETS
from support.streaming_kernels import streaming_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import registers_written
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.compile.pipeline import ORDERING, compiled
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.traced.kernel import TracedKernel


def any_kernel(rng: Random) -> TracedKernel:
    """A kernel of one of five sorts."""
    sort, target, seed = rng.randrange(5), rng.choice(TARGETS), rng.randrange(2**31)
    if sort == 0:
        return random_kernel(rng, rng.choice(list(PARTS))).trace()
    if sort == 1:
        return visible_kernel(seed, target)[0]
    if sort == 2:
        return streaming_kernel(seed, target, *rng.choice(((6, 2), (8, 1), (20, 0))))[0]
    if sort == 3:
        return odd_kernel(seed, target, *rng.choice(((14, 0), (5, 1), (5, 2))))[0]
    return tangled_kernel(seed, target, *rng.choice(((24, 0), (12, 1), (4, 1))))[0]


class Removed(NamedTuple):
    """A kernel with and without an instruction, and the predicted times in a schedule."""

    kernel: TracedKernel
    instruction: str
    schedule: str
    before: float
    after: float

    @property
    def growth(self) -> float:
        """How much longer it takes without the instruction: 0.1 for 10%."""
        return self.after / self.before - 1

    def __str__(self) -> str:
        return (
            f"without a {self.instruction}, {self.before:.0f} ns become {self.after:.0f} "
            f"in the order of the {self.schedule}"
        )


def removals(rng: Random, traced: TracedKernel, count: int) -> Iterator[Removed]:
    """Remove some instructions from a kernel of one core, one at a time.

    The removal of some instructions adds work: an overwritten result becomes live, or a loop does
    not end without its register. Such removals, and invalid kernels, are skipped.
    """
    schedules = "author", "compiler"
    before = {schedule: traced.profile(schedule=schedule).time for schedule in schedules}
    work = _work(traced)
    instructions = len(_instructions(traced))
    for number in rng.sample(range(instructions), min(count, instructions)):
        module = traced.module.clone()
        smaller = TracedKernel(module)
        op = _instructions(smaller)[number]
        if op.results or any(True for _ in registers_written(op)):
            continue
        name = op.name
        op.detach()
        op.erase()
        try:
            after = {schedule: smaller.profile(schedule=schedule).time for schedule in schedules}
        except NkiValidationError:
            continue
        if _work(smaller) < work:
            for schedule in schedules:
                yield Removed(traced, name, schedule, before[schedule], after[schedule])


def _instructions(traced: TracedKernel) -> list[NisaOp]:
    (kernel,) = kernels_of(traced.module)
    return [op for op in kernel.walk() if isinstance(op, NisaOp)]


def _work(traced: TracedKernel) -> int:
    """How many instructions the compiler leaves."""
    (kernel,) = kernels_of(traced.module)
    return sum(isinstance(op, NisaOp) for op in compiled(kernel, ORDERING).kernel.walk())
