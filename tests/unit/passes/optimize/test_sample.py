"""Large kernels are searched in a sample first; the steps are repeated in the whole kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.advice import normal

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.operation import is_instruction
from nkijit.passes.optimize import sample
from nkijit.passes.optimize.sample import sample_of

X = normal(1024, 512)


@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(0, x.shape[0], 128):
        for c in range(0, x.shape[1], 64):
            tile = nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[r : r + 128, c : c + 64])
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
            nisa.dma_copy(dst=out[r : r + 128, c : c + 64], src=tile)
    return out


def instructions(kernels: Any) -> int:
    return sum(is_instruction(op) for kernel in kernels for op in kernel.operations)


def test_a_sample_computes_the_first_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LARGE", 100)
    monkeypatch.setattr(sample, "_SMALLEST", 20)
    kernels = doubled.for_target("trn2").trace(X).cores()
    found = sample_of(kernels)
    assert found is not None
    assert (instructions(kernels), instructions(found)) == (192, 96)


def test_small_kernels_have_no_sample() -> None:
    assert sample_of(doubled.for_target("trn2").trace(X).cores()) is None


def test_steps_of_the_sample_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LARGE", 100)
    monkeypatch.setattr(sample, "_SMALLEST", 20)
    traced = doubled.for_target("trn2").trace(X)
    # 4 of 10 experiments are for the sample, 2 repeat its steps.
    found = traced.optimize(budget=600, experiments=10)
    assert found.result.steps
    assert found.result.after.time < 0.6 * found.result.before.time
    assert traced.equivalent(found.traced).level is found.result.level
    np.testing.assert_array_equal(found.traced.run(X.copy()), 2 * X)
