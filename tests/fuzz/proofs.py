"""Proofs for all inputs: true for every pass of the compiler, and never claimed for other results.

A round takes random kernels. Each compiler pass, run alone on a copy, must be proven equal bit by
bit, unless the kernel itself has no terms. A kernel with one changed constant, index, operator,
operand or line must not be proven equal if its results on random data differ, by more than
rounding if it is only proven up to the order of sums.
"""

from __future__ import annotations

from random import Random

from support.changed_kernels import changed, close, results, same_bits
from support.random_kernels import TARGETS
from support.redundant_kernels import redundant_kernel
from support.removals import any_kernel

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.compile.pipeline import COMPILER, compiled
from nkijit.passes.prove.proof import prove
from nkijit.traced.kernel import TracedKernel
from tests.fuzz.campaign import Count, Finding, until

KERNELS = 4
"""The largest number of kernels per round."""
TRIES = 12
"""The number of attempts to change a line of a kernel."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round."""
    count = Count()
    for _ in until(deadline, KERNELS):
        traced = _kernel(rng)
        kernels = kernels_of(traced.module)
        if prove(kernels, kernels).unproven is not None:
            count.skipped += 1
            continue
        _passes(traced, count)
        _changes(rng, traced, count)
    return count


def _kernel(rng: Random) -> TracedKernel:
    if rng.random() < 0.2:
        size = rng.choice(((16, 0), (5, 1), (5, 2)))
        return redundant_kernel(rng.randrange(2**31), rng.choice(TARGETS), *size)[0]
    return any_kernel(rng)


def _passes(traced: TracedKernel, count: Count) -> None:
    kernels = kernels_of(traced.module)
    names = {each.name for each in COMPILER}
    for name in (*(each.name for each in COMPILER), "all"):
        without = set() if name == "all" else names - {name}
        made = [compiled(kernel, without) for kernel in kernels]
        if not any(sum(each.changes.values()) for each in made):
            continue
        count.cases += 1
        proof = prove(kernels, [each.kernel for each in made], "bits")
        if not proof.holds("bits"):
            files = {"kernel.mlir": str(traced.text()).encode()}
            count.findings.append(Finding(f"{name} is not proven\n{proof}", files))


def _changes(rng: Random, traced: TracedKernel, count: Count) -> None:
    for what, other in changed(rng, traced, TRIES):
        proof = traced.equivalent(other, "reassociated")
        if proof.level is None:
            count.cases += 1
            continue
        agree = same_bits if proof.holds("bits") else close
        for seed in range(2):
            pair = results(traced, seed), results(other, seed)
            if pair[0] is None or pair[1] is None:
                count.skipped += 1
            elif not agree(pair[0], pair[1]):
                files = {
                    "old.mlir": str(traced.text()).encode(),
                    "new.mlir": str(other.text()).encode(),
                }
                count.findings.append(Finding(f"proven equal, but not equal\n{what}", files))
            else:
                count.cases += 1
