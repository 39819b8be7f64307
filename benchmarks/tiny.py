"""Time of an instruction on a tiny tile in a warm run, relative to the same call of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.measuring import Ratio, call_by_call
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.interpret.backends.choice import on_backend
from nkijit.passes.interpret.plan.plan import Plan

N = 8
REPEATS = 1000
LIMIT = 0.3
"""Limit for an instruction in native code, in µs."""

Emit = Callable[[Any, Any, Any, Any], object]
"""An instruction on tiles, or the same on arrays.

Arguments: destination, data, a column with one element per row, sums in PSUM.
"""
INSTRUCTIONS: dict[str, tuple[Emit, Emit]] = {
    "tensor_copy": (
        lambda into, data, row, sums: nisa.tensor_copy(dst=into, src=data),
        lambda into, data, row, sums: np.copyto(into, data),
    ),
    "tensor_tensor": (
        lambda into, data, row, sums: nisa.tensor_tensor(into, data, into, op=nl.add),
        lambda into, data, row, sums: np.add(data, into, out=into),
    ),
    "activation exp": (
        lambda into, data, row, sums: nisa.activation(dst=into, op=nl.exp, data=data),
        lambda into, data, row, sums: np.exp(data, out=into),
    ),
    "tensor_reduce": (
        lambda into, data, row, sums: nisa.tensor_reduce(row, op=nl.maximum, data=data, axis=1),
        lambda into, data, row, sums: np.max(data, axis=1, keepdims=True, out=row),
    ),
    "nc_matmul": (
        lambda into, data, row, sums: nisa.nc_matmul(sums, stationary=data, moving=into),
        lambda into, data, row, sums: np.add(data.T @ into, sums, out=sums),
    ),
}


def _kernel(emit: Emit) -> Any:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((N, N), nl.float32, buffer=nl.shared_hbm)
        first, second, result = (nl.ndarray((N, N), nl.float32, buffer=nl.sbuf) for _ in range(3))
        row = nl.ndarray((N, 1), nl.float32, buffer=nl.sbuf)
        sums = nl.ndarray((N, N), nl.float32, buffer=nl.psum)
        nisa.dma_copy(dst=first, src=x)
        nisa.dma_copy(dst=second, src=x)
        nisa.memset(dst=row, value=0.0)
        nisa.nc_matmul(dst=sums, stationary=first, moving=second)
        for _ in range(REPEATS // 2):
            emit(first, second, row, sums)
            emit(second, first, row, sums)
        # All results are read, so that no instruction is dead.
        nisa.tensor_tensor(dst=result, data1=first, data2=second, op=nl.add)
        nisa.scalar_tensor_tensor(
            dst=result, data=result, op0=nl.add, operand0=row, op1=nl.add, operand1=sums
        )
        nisa.dma_copy(dst=out, src=result)
        return out

    return kernel


def measured(name: str, backend: str, rounds: int) -> Ratio:
    """Time one instruction relative to the same call of NumPy, in µs."""
    emit, by_hand = INSTRUCTIONS[name]
    x = np.full((N, N), -1.0, np.float32)
    (kernel,) = kernels_of(_kernel(emit).trace(x).module)
    plan = Plan(kernel)
    first, second, row, sums = x.copy(), x.copy(), x[:, :1].copy(), np.zeros_like(x)

    def in_numpy() -> None:
        for _ in range(REPEATS // 2):
            by_hand(first, second, row, sums)
            by_hand(second, first, row, sums)

    with on_backend(backend), np.errstate(all="ignore"):
        plan.run([x])
        plan.run([x])
        ratio = call_by_call(lambda: plan.run([x]), in_numpy, rounds)
    return Ratio(ratio.ours / REPEATS, ratio.other / REPEATS, ratio.value, ratio.low, ratio.high)
