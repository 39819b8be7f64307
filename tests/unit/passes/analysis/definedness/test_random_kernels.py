"""Uses of undefined values: the pass, the sanitised run and runs on garbage agree.

Brute force shares nothing with the other two: result elements depend on unwritten memory if they
differ when that memory is filled differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.garbage import TRIPS, effect_of_garbage, inputs, random_kernel
from xdsl.ir import Operation

from nkijit.dialects.effects import Effect
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.nki.views import base_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.definedness.kernels import uses_of_undefined
from nkijit.passes.analysis.definedness.origins import Origins, Use, leaving
from nkijit.passes.analysis.definedness.shadow import DEFINED
from nkijit.passes.analysis.writes.data_flow import data_flow
from nkijit.passes.analysis.writes.written import Verdict, reads_of
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.run.sanitize import CoreSanitizer
from nkijit.passes.verify.init import check_init
from nkijit.passes.verify.rules import CATEGORIES, check_rules

KERNELS = 400
"""Of each kind."""
PARTS = 4


class Watching(CoreSanitizer):
    """Goes on where a sanitised run ends."""

    def __init__(self, plan: Plan):
        super().__init__(plan, Origins(), {})
        self.entire: list[Operation] = []
        self.uses: list[Use] = []

    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        self.entire.append(op)

    def used(self, use: Use) -> None:
        self.uses.append(use)

    def undefined(self) -> list[Any]:
        """Which elements of each result are undefined, or unwritten, at the end."""
        ends = [effect for effect, how in leaving(self._plan.kernel) if how == "is returned"]
        return [self.read(self._plan.kernel.return_op, effect) != DEFINED for effect in ends]


def watched(plan: Plan, arguments: list[Any]) -> Watching:
    watching = Watching(plan)
    env = plan.start(arguments, watched=True)
    env[plan.body.observer] = watching
    with np.errstate(all="ignore"):
        plan.body.run(env)
    return watching


def parsed(text: str) -> KernelOp:
    (kernel,) = kernels_of(parse(text))
    assert not [d for d in check_rules(kernel, CATEGORIES) if d.severity == "error"]
    return kernel


def reads_in_part(kernel: KernelOp) -> set[Any]:
    found = [read for read in reads_of([kernel]) if read.verdict is Verdict.unwritten]
    return {read.effect.value for read in found if not read.entire}


def errors(kernel: KernelOp) -> list[Diagnostic]:
    return [d for d in check_init([kernel]) if d.severity == "error"]


@pytest.mark.parametrize("static", [True, False])
def test_unwritten_reads_are_of_unsettled_tensors(static: bool) -> None:
    """A check of the unsettled tensors alone finds the same unwritten reads as a check of all."""
    found = settled = 0
    for seed in range(KERNELS // 2):
        kernel = parsed(random_kernel(seed, static=static))
        unsettled = data_flow(kernel).unsettled
        of_all = [read for read in reads_of([kernel]) if read.verdict is Verdict.unwritten]
        of_unsettled = [
            read
            for read in reads_of([kernel], tensors=unsettled)
            if read.verdict is Verdict.unwritten
        ]
        places = [(read.op, read.effect, read.entire) for read in of_all]
        assert places == [(read.op, read.effect, read.entire) for read in of_unsettled], seed
        found += len(places)
        settled += not unsettled
    assert found > 100
    assert settled > 10


@pytest.mark.parametrize("part", range(PARTS))
def test_static_findings_are_complete(part: int) -> None:
    """Straight programs without data-dependent choices: all three say the same."""
    compared = undefined = clean = 0
    for seed in range(part, KERNELS, PARTS):
        kernel, arguments = parsed(random_kernel(seed, static=True)), inputs(seed, 1)
        plan = Plan(kernel)
        garbage, watching = effect_of_garbage(plan, arguments, seed), watched(plan, arguments)
        found = errors(kernel)
        entire = any(d.rule.id == "read-unwritten" for d in found)
        assert entire == bool(watching.entire), seed
        if entire:
            continue  # its results are not tracked
        for depends, marked in zip(garbage.depends, watching.undefined(), strict=True):
            assert not (depends & ~marked).any(), f"a value depends on garbage (seed {seed})"
            if garbage.exact:
                assert np.array_equal(depends, marked), f"a value is defined (seed {seed})"
                compared += 1
        rules = {d.rule.id for d in found}
        assert rules <= {"undefined-use", "output-unwritten"}
        if not any(depends.any() for depends in garbage.depends):
            clean += 1
            assert not found, f"an error without a dependence (seed {seed})"
        uses = [use for use in _uses(kernel) if use.leaves]
        for use in uses:
            (index,) = [
                i
                for i, (effect, _) in enumerate(leaving(kernel))
                if effect.value is use.effect.value
            ]
            marks = watching.read(kernel.return_op, use.effect) > 1
            assert np.array_equal(use.undefined, marks), f"other elements (seed {seed})"
            assert (garbage.depends[index] | ~marks).all() or not garbage.exact
        marked = [watching.read(kernel.return_op, e) > 1 for e, _ in leaving(kernel)]
        assert len(uses) == sum(m.any() for m in marked), f"a use is missed (seed {seed})"
        undefined += len(uses)
    assert compared > 60
    assert undefined > 10
    assert clean > 10


@pytest.mark.parametrize("part", range(PARTS))
def test_data_dependent_uses_are_never_reported_wrongly(part: int) -> None:
    """Loops, gathers, predicates and addresses from registers: the pass says less, never more."""
    compared = told = 0
    for seed in range(part, KERNELS, PARTS):
        kernel = parsed(random_kernel(seed, static=False))
        found, plan = errors(kernel), Plan(kernel)
        uses = [use for use in _uses(kernel) if use.leaves]
        for trips in (0, 1, TRIPS):
            arguments = inputs(seed, trips)
            garbage = effect_of_garbage(plan, arguments, seed)
            watching = watched(plan, arguments)
            if watching.entire:
                continue
            marks = watching.undefined()
            for depends, marked in zip(garbage.depends, marks, strict=True):
                assert not (depends & ~marked).any(), (
                    f"a value depends on garbage ({seed}, {trips})"
                )
                if garbage.exact and not watching.uses:
                    assert np.array_equal(depends, marked), f"a value is defined ({seed}, {trips})"
                    compared += 1
            if any(d.rule.id == "read-unwritten" for d in found):
                continue
            for use in uses:
                really = watching.read(kernel.return_op, use.effect) > 1
                assert not (use.undefined & ~really).any(), f"not undefined ({seed}, {trips})"
                told += 1
    assert compared > 100
    assert told > 10


def _uses(kernel: KernelOp) -> list[Use]:
    return uses_of_undefined([kernel], {base_of(value) for value in reads_in_part(kernel)})
