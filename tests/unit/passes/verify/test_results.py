"""verify-results against the interpreter: erasing unused results changes no bit of a run."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support.odd_kernels import odd_kernel
from support.tangled_kernels import tangled_kernel

from nkijit.dialects.nisa.random import GENERATING
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.writes.unused_results import call_of, unused_results
from nkijit.traced.kernel import TracedKernel

SEEDS = range(30)


def _bits(traced: TracedKernel, inputs: list[Any]) -> list[bytes]:
    arrays = [np.array(array) for array in inputs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = traced.run(*arrays, strict=False)
    results = results if isinstance(results, (list, tuple)) else [results]
    return [np.asarray(array).tobytes() for array in (*results, *arrays) if array is not None]


def _erase_unused(kernel: KernelOp) -> int:
    """Erase the instructions of which no result is used; return their number.

    Those that draw random numbers stay, because later numbers depend on how many were drawn.
    """
    found = [r for r in unused_results(kernel) if not isinstance(r.op, GENERATING)]
    calls = {call_of(result.op) for result in found if result.unused == result.executions}
    erased = [op for op in kernel.operations if call_of(op) in calls]
    for op in erased:
        op.detach()
        op.erase()
    return len(erased)


@pytest.mark.parametrize("make", [odd_kernel, tangled_kernel])
def test_results_that_are_unused_change_nothing(make):
    erased = 0
    for seed in SEEDS:
        traced, inputs = make(seed)
        # Each operation of the text has a line of its own, so it is a call of its own.
        module = parse(traced.text())
        (kernel,) = kernels_of(module)
        count = _erase_unused(kernel)
        erased += count
        if count:
            assert _bits(TracedKernel(module), inputs) == _bits(traced, inputs), seed
    assert erased >= len(SEEDS)
