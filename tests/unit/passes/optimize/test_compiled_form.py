"""The compiler's passes, written out and run a second time, gain nothing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from support.advice import normal
from support.kernel_parts import random_kernel
from support.looped_kernels import looped_kernel
from support.random_kernels import PARTS

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.advise.trials import Conditions, changed
from nkijit.passes.compile.passes.remove_unused import remove_unused
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.optimize.compiled_form import compiled_forms
from nkijit.passes.optimize.search import SMALLEST


@nki.jit
def repeated(x, row):
    """The loads of the row, and the products with it, are shared by the compiler."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    buffer = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
    for r in range(0, x.shape[0], 128):
        weights = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
        double = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=weights, src=row)
        nisa.tensor_scalar(dst=double, data=weights, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=buffer, src=x[r : r + 128])
        nisa.tensor_tensor(dst=buffer, data1=buffer, data2=double, op=nl.multiply)
        nisa.dma_copy(dst=out[r : r + 128], src=buffer)
    return out


def times(kernels: Sequence[KernelOp]) -> tuple[float, float]:
    """Return the time of a compiled kernel, and that of its compiled form, compiled again."""
    conditions = Conditions(Schedule.compiler, kernels[0].target)
    before = conditions.run(kernels, Schedule.compiler).total
    change: list[Any] = [next(compiled_forms(kernel), None) for kernel in kernels]
    copies = changed(change, kernels)
    for copy in copies:
        remove_unused(copy)
    return before, conditions.run(copies, Schedule.compiler).total


def test_shared_loads_and_results() -> None:
    traced = repeated.for_target("trn2").trace(normal(512, 512), normal(128, 512))
    before, after = times(traced.cores())
    assert after >= before * (1 - SMALLEST)


def test_loops() -> None:
    for seed in range(6):
        traced, _ = looped_kernel(seed, "trn2")
        before, after = times(kernels_of(traced.module))
        assert after >= before * (1 - SMALLEST), seed


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    for seed in range(2):
        kernels = kernels_of(random_kernel(Random(f"{part} {seed}"), part).trace().module)
        try:
            before, after = times(kernels)
        except (NotPossibleError, LoweringError):
            continue
        assert after >= before * (1 - SMALLEST), seed
