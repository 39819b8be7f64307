"""Compiled kernels compute the same results, bit by bit, in any interleaving."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from support.compiled_runs import check, run
from support.examples import parameters
from support.kernel_parts import random_kernel
from support.lowered_runs import numbers
from support.odd_kernels import odd_kernel
from support.random_kernels import PARTS, TARGETS
from support.redundant_kernels import redundant_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.kernels.kernel import UnsupportedError
from nkijit.passes.compile.pipeline import COMPILER, compiled
from nkijit.tracing.target import TARGET_VARIABLE


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(24, 0), (6, 1), (7, 2)])
def test_tangled_kernels(target: str, length: int, depth: int) -> None:
    assert sum(check(*tangled_kernel(seed, target, length, depth)) for seed in range(6)) > 0


@pytest.mark.parametrize(
    ("seed", "length", "depth"), [(1060, 24, 0), (5049, 24, 0), (1063, 6, 1), (1021, 7, 2)]
)
def test_a_change_may_give_work_to_a_queue_that_had_none(
    seed: int, length: int, depth: int
) -> None:
    check(*tangled_kernel(seed, "trn1", length, depth))


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_whose_every_value_is_seen(target: str) -> None:
    assert sum(check(*visible_kernel(seed, target, 16)) for seed in range(8)) > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(16, 0), (5, 1), (5, 2)])
def test_kernels_with_much_to_leave_out(target: str, length: int, depth: int) -> None:
    for seed in range(8):
        check(*redundant_kernel(seed, target, length, depth), range(2))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(14, 0), (5, 1), (5, 2)])
def test_kernels_that_look_like_others(target: str, length: int, depth: int) -> None:
    assert sum(check(*odd_kernel(seed, target, length, depth), range(2)) for seed in range(16)) > 0


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    for seed in range(3):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        inputs = [numbers(spec, seed) for _, spec in kernel.arguments]
        if sum(array.size for array in inputs) <= 1 << 20:
            check(kernel.trace(), inputs, range(3))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", parameters())
def test_examples(example: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGET_VARIABLE, target)
    inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
    try:
        traced = example.kernel.trace(**inputs)
    except UnsupportedError as error:
        pytest.skip(str(error))
    if traced.diagnostics.errors:
        pytest.skip(f"not for {target}")
    check(traced, [v for v in inputs.values() if isinstance(v, np.ndarray)], range(3))


def test_each_pass_can_be_left_out() -> None:
    traced, inputs = visible_kernel(1)
    (kernel,) = kernels_of(traced.module)
    expected = run([kernel], inputs)
    for step in COMPILER:
        made = compiled(kernel, without={step.name})
        assert set(made.changes) == {s.name for s in COMPILER} - {step.name}
        assert run([made.kernel], inputs) == expected
