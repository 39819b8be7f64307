"""Changes that are said to keep the results do, bit by bit, and break no rule."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from support.advice import check_same_results
from support.examples import parameters
from support.kernel_parts import random_kernel
from support.looped_kernels import looped_kernel
from support.lowered_runs import numbers
from support.random_kernels import PARTS, TARGETS
from support.tangled_kernels import tangled_kernel, visible_kernel

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.kernels.kernel import UnsupportedError
from nkijit.passes.advise.nests import Order
from nkijit.tracing.target import TARGET_VARIABLE


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(24, 0), (6, 1), (7, 2)])
def test_tangled_kernels(target: str, length: int, depth: int) -> None:
    for seed in range(6):
        traced, inputs = tangled_kernel(seed, target, length, depth)
        check_same_results(kernels_of(traced.module), inputs)


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_whose_every_value_is_seen(target: str) -> None:
    for seed in range(8):
        traced, inputs = visible_kernel(seed, target, 16)
        check_same_results(kernels_of(traced.module), inputs)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_that_change_places(target: str) -> None:
    kinds: set[str] = set()
    for seed in range(5):
        traced, inputs = looped_kernel(seed, target)
        kinds |= check_same_results(kernels_of(traced.module), inputs)
    assert {"loop-order", "partition-use"} <= kinds


def test_an_order_that_is_not_allowed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Order, "allows", lambda *_: True)
    loops = [looped_kernel(seed, "trn2") for seed in range(5)]
    with pytest.raises(AssertionError, match=r"loop-order|partition-use"):
        _ = [check_same_results(kernels_of(traced.module), inputs) for traced, inputs in loops]


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    for seed in range(3):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        inputs = [numbers(spec, seed) for _, spec in kernel.arguments]
        if sum(array.size for array in inputs) <= 1 << 20:
            check_same_results(kernels_of(kernel.trace().module), inputs)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "example",
    parameters(
        "softmax",
        "rmsnorm",
        "layernorm",
        "matmul",
        "flash_attention",
        "mamba_scan",
        "residual",
        "activate2",
        "sharded_rmsnorm",
        "topk_router",
    ),
)
def test_examples(example: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGET_VARIABLE, target)
    inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
    try:
        traced = example.kernel.trace(**inputs)
    except UnsupportedError as error:
        pytest.skip(str(error))
    if traced.diagnostics.errors:
        pytest.skip(f"not for {target}")
    arrays = [value for value in inputs.values() if isinstance(value, np.ndarray)]
    check_same_results(kernels_of(traced.module), arrays)
