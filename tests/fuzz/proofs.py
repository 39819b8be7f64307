"""Proofs for all inputs: true for every form of a kernel, and never claimed for other results.

A round takes random kernels. A kernel after each compiler pass alone, after all passes, exported
and traced again, and with its loops rolled must be proven equal bit by bit, unless the kernel has
no terms. A kernel with one changed constant, index, operator, operand or line must not be proven
equal if its results on random data differ, by more than rounding if it is only proven up to the
order of sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from support.changed_kernels import changed, close, of_text, results, same_bits
from support.exports import retraced
from support.random_kernels import TARGETS
from support.redundant_kernels import redundant_kernel
from support.removals import any_kernel

from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.compile.pipeline import COMPILER, compiled
from nkijit.passes.prove.proof import Proof, prove
from nkijit.traced.kernel import TracedKernel
from tests.fuzz.campaign import Count, Finding, until

KERNELS = 4
"""The largest number of kernels per round."""
TRIPS = 2
"""The number of iterations that are assumed of loops that depend on inputs."""
TRIES = 12
"""The number of attempts to change a line of a kernel."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round."""
    count = Count()
    for _ in until(deadline, KERNELS):
        traced = _kernel(rng)
        kernels = kernels_of(traced.module)
        itself = prove(kernels, kernels, trips=TRIPS)
        _note(count, "kernel", itself)
        if itself.unproven is not None:
            count.skipped += 1
            continue
        for name, made in _forms(traced):
            count.cases += 1
            proof = prove(kernels, made, "bits", TRIPS)
            _note(count, name, proof)
            if not proof.holds("bits"):
                files = {"kernel.mlir": str(traced.text()).encode()}
                count.findings.append(Finding(f"{name} is not proven\n{proof}", files))
        _changes(rng, traced, count)
    return count


def _kernel(rng: Random) -> TracedKernel:
    if rng.random() < 0.2:
        size = rng.choice(((16, 0), (5, 1), (5, 2)))
        return redundant_kernel(rng.randrange(2**31), rng.choice(TARGETS), *size)[0]
    return any_kernel(rng)


def _note(count: Count, name: str, proof: Proof) -> None:
    if proof.level is not None:
        given = "" if proof.trips is None else f" for {proof.trips} trips"
        answer = f"proven{given}, {proof.level.value}"
    elif proof.unproven is not None:
        answer = f"not proven: {re.sub(r'[0-9]+', '…', proof.unproven.reason)}"
    else:
        answer = "refuted"
    count.outcomes[f"{name}: {answer}"] += 1


def _forms(traced: TracedKernel) -> Iterator[tuple[str, list[KernelOp]]]:
    """Yield the name and the programs of each form of a kernel that differs from it."""
    kernels = kernels_of(traced.module)
    names = {each.name for each in COMPILER}
    for name in (*(each.name for each in COMPILER), "all passes"):
        without = names - {name} if name in names else set[str]()
        made = [compiled(kernel, without) for kernel in kernels]
        if any(sum(each.changes.values()) for each in made):
            yield name, [each.kernel for each in made]
    yield "export", retraced(traced).cores()
    yield "rolled", of_text(traced.text(rolled=True)).cores()


def _changes(rng: Random, traced: TracedKernel, count: Count) -> None:
    for what, other in changed(rng, traced, TRIES):
        proof = traced.equivalent(other, "reassociated", TRIPS)
        _note(count, f"changed {what.partition(':')[0]}", proof)
        if proof.level is None:
            count.cases += 1
            continue
        if proof.trips is not None:
            continue  # equal for the inputs with these trips only
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
