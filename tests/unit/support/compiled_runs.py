"""Runs of compiled kernels, compared with the original kernels, bit for bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from support.well_formed import check_dominance

from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.compile.pipeline import compiled
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.interpret.run.launch import Launch
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.schedule import lower
from nkijit.passes.verify.passes import find_all
from nkijit.traced.kernel import TracedKernel


def bits(results: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """Return the bits of results, and of inputs after a run."""
    return [(a.shape, a.dtype, a.tobytes()) for a in (*results, *arrays)]


def run(kernels: Sequence[KernelOp], inputs: Sequence[Any]) -> list[Any]:
    """Run the programs of all cores together."""
    arrays = [array.copy() for array in inputs]
    return bits(Launch([Plan(kernel) for kernel in kernels]).run(arrays), arrays)


def _errors(kernels: Sequence[KernelOp]) -> set[str]:
    """The rules that the programs of all cores break."""
    return {d.rule.id for d in find_all(kernels, advise=False) if d.severity == "error"}


def queues_of(kernel: KernelOp) -> str:
    """The listing of a kernel, without the numbers of names, which count tiles never used, too."""
    return re.sub(r"_\d+\[", "[", listing(lower(kernel)))


def check(traced: TracedKernel, inputs: Sequence[Any], seeds: Sequence[int] = range(6)) -> int:
    """Fail unless the compiled kernel computes the same; returns how much was changed."""
    kernels = kernels_of(traced.module)
    before = str(traced.module)
    made = [compiled(kernel) for kernel in kernels]
    assert str(traced.module) == before
    for each in made:
        each.kernel.verify()
        check_dominance(each.kernel)
    for kernel, each in zip(kernels, made, strict=True):
        # A kernel reported as unchanged has the author's queues (`lowered`).
        assert each.is_changed or queues_of(each.kernel) == queues_of(kernel)
    assert _errors([each.kernel for each in made]) <= _errors(kernels)
    expected = run(kernels, inputs)
    assert run([each.kernel for each in made], inputs) == expected
    queues = Queues([lower(each.kernel) for each in made])
    for seed in seeds:
        arrays = [array.copy() for array in inputs]
        assert bits(queues.run(arrays, seed=seed), arrays) == expected, f"interleaving {seed}"
    return sum(sum(each.changes.values()) for each in made)
