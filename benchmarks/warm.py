"""Time of warm calls relative to hand-written NumPy, which works tile by tile and reuses buffers.

Six kernels, each in float32 and in bfloat16. As in most kernels, every iteration allocates tiles. A
warm call and the hand-written function are timed alternately in one process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.measuring import Ratio, call_by_call, seconds
from nkijit.kernels.kernel import Kernel
from nkijit.passes.interpret.backends.choice import on_backend

Array = npt.NDArray[Any]
TILES, P, F = 8, 128, 512
DTYPES = {"f32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16)}


LIMITS = {"numpy": 1.6, "native": 0.6}
"""Limits for the geometric mean of the ratios of all kernels, by backend."""


@dataclass(frozen=True)
class Case:
    """A kernel and hand-written implementations of it."""

    name: str
    kernel: Kernel
    by_hand: Callable[..., Callable[[], Array]]
    whole: Callable[..., Array]
    """An implementation on whole arrays in float32."""
    inputs: tuple[Array, ...]
    tolerance: float
    """Relative and absolute tolerance: the order of operations and roundings differ."""


# ------------------------------------------------------------------ element by element


@nki.jit
def add_multiply(x: Any, y: Any) -> Any:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // P):
        rows = nl.ds(i * P, P)
        a = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        b = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        c = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[rows, :])
        nisa.dma_copy(dst=b, src=y[rows, :])
        nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)
        d = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=d, data1=c, data2=b, op=nl.multiply)
        nisa.dma_copy(dst=out[rows, :], src=d)
    return out


def add_multiply_by_hand(x: Array, y: Array) -> Callable[[], Array]:
    out = np.empty_like(x)
    a, b, c, d = (np.empty((P, F), x.dtype) for _ in range(4))

    def run() -> Array:
        for i in range(len(x) // P):
            rows = slice(i * P, i * P + P)
            np.copyto(a, x[rows])
            np.copyto(b, y[rows])
            np.add(a, b, out=c)
            np.multiply(c, b, out=d)
            np.copyto(out[rows], d)
        return out

    return run


@nki.jit
def chain(x: Any, y: Any) -> Any:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // P):
        rows = nl.ds(i * P, P)
        a = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        b = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[rows, :])
        nisa.dma_copy(dst=b, src=y[rows, :])
        c = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=c, data=a, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=1.0)
        d = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=d, data=c, op0=nl.multiply, operand0=0.25, op1=nl.subtract, operand1=b
        )
        e = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=e, op=nl.exp, data=d, scale=-1.0)
        f = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=f, data1=e, data2=b, op=nl.maximum)
        nisa.dma_copy(dst=out[rows, :], src=f)
    return out


def chain_by_hand(x: Array, y: Array) -> Callable[[], Array]:
    out = np.empty_like(x)
    a, b = (np.empty((P, F), x.dtype) for _ in range(2))
    c, d = (np.empty((P, F), np.float32) for _ in range(2))
    half, one, quarter = np.float32(0.5), np.float32(1), np.float32(0.25)

    def run() -> Array:
        for i in range(len(x) // P):
            rows = slice(i * P, i * P + P)
            np.copyto(a, x[rows])
            np.copyto(b, y[rows])
            np.multiply(a, half, out=c, dtype=np.float32)
            np.add(c, one, out=c)
            np.multiply(c, quarter, out=c)
            np.subtract(c, b, out=d, dtype=np.float32)
            np.negative(d, d)
            np.exp(d, d)
            np.maximum(d, b, out=d, dtype=np.float32)
            np.copyto(out[rows], d, casting="unsafe")
        return out

    return run


# ------------------------------------------------------------------ rows


@nki.jit
def softmax(x: Any) -> Any:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // P):
        rows = nl.ds(i * P, P)
        a = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[rows, :])
        low = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=low, op=nl.maximum, data=a, axis=1, negate=True)
        e = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=e, op=nl.exp, data=a, bias=low, reduce_op=nl.add, reduce_res=total
        )
        scale = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=scale, data=total)
        y = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=y, data=e, op0=nl.multiply, operand0=scale)
        nisa.dma_copy(dst=out[rows, :], src=y)
    return out


def softmax_by_hand(x: Array) -> Callable[[], Array]:
    out, a = np.empty_like(x), np.empty((P, F), x.dtype)
    e = np.empty((P, F), np.float32)

    def run() -> Array:
        for i in range(len(x) // P):
            rows = slice(i * P, i * P + P)
            np.copyto(a, x[rows])
            np.copyto(e, a)
            np.subtract(e, e.max(axis=1, keepdims=True), out=e)
            np.exp(e, e)
            total = e.sum(axis=1, keepdims=True)
            np.multiply(e, np.reciprocal(total), out=e)
            np.copyto(out[rows], e, casting="unsafe")
        return out

    return run


@nki.jit
def rmsnorm(x: Any, weight: Any) -> Any:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    w = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=w, src=weight)
    eps = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=eps, value=1e-5)
    for i in nl.affine_range(x.shape[0] // P):
        rows = nl.ds(i * P, P)
        a = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[rows, :])
        squares = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=squares, op=nl.square, data=a, reduce_op=nl.add, reduce_res=total
        )
        scale = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=scale, op=nl.rsqrt, data=total, bias=eps, scale=1.0 / F)
        y = nl.ndarray((P, F), dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=y, data=a, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=w
        )
        nisa.dma_copy(dst=out[rows, :], src=y)
    return out


def rmsnorm_by_hand(x: Array, weight: Array) -> Callable[[], Array]:
    out, a, w = np.empty_like(x), np.empty((P, F), x.dtype), np.empty((P, F), x.dtype)
    e = np.empty((P, F), np.float32)
    mean, eps = np.float32(1 / F), np.float32(1e-5)

    def run() -> Array:
        np.copyto(w, weight)
        for i in range(len(x) // P):
            rows = slice(i * P, i * P + P)
            np.copyto(a, x[rows])
            np.multiply(a, a, out=e, dtype=np.float32)
            total = e.sum(axis=1, keepdims=True)
            scale = np.reciprocal(np.sqrt(total * mean + eps))
            np.multiply(a, scale, out=e, dtype=np.float32)
            np.multiply(e, w, out=e, dtype=np.float32)
            np.copyto(out[rows], e, casting="unsafe")
        return out

    return run


# ------------------------------------------------------------------ the Tensor Engine


@nki.jit
def matmul(a: Any, b: Any) -> Any:
    """Multiply the transpose of `a` (K, M) by `b` (K, N)."""
    depth, m = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // P):
        for j in nl.affine_range(n // F):
            sums = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // P):
                left = nl.ndarray((P, P), dtype=a.dtype, buffer=nl.sbuf)
                right = nl.ndarray((P, F), dtype=a.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left, src=a[nl.ds(k * P, P), nl.ds(i * P, P)])
                nisa.dma_copy(dst=right, src=b[nl.ds(k * P, P), nl.ds(j * F, F)])
                nisa.nc_matmul(dst=sums, stationary=left, moving=right)
            tile = nl.ndarray((P, F), dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=tile, src=sums)
            nisa.dma_copy(dst=out[nl.ds(i * P, P), nl.ds(j * F, F)], src=tile)
    return out


def matmul_by_hand(a: Array, b: Array) -> Callable[[], Array]:
    (depth, m), n = a.shape, b.shape[1]
    out = np.empty((m, n), a.dtype)
    left, right = np.empty((P, P), np.float32), np.empty((P, F), np.float32)
    sums, product = np.empty((P, F), np.float32), np.empty((P, F), np.float32)

    def run() -> Array:
        for i in range(m // P):
            for j in range(n // F):
                for k in range(depth // P):
                    np.copyto(left, a[k * P : k * P + P, i * P : i * P + P])
                    np.copyto(right, b[k * P : k * P + P, j * F : j * F + F])
                    if k == 0:
                        np.matmul(left.T, right, out=sums)
                    else:
                        np.matmul(left.T, right, out=product)
                        np.add(sums, product, out=sums)
                np.copyto(out[i * P : i * P + P, j * F : j * F + F], sums, casting="unsafe")
        return out

    return run


@nki.jit
def transposes(x: Any) -> Any:
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // P):
        for j in nl.affine_range(columns // P):
            a = nl.ndarray((P, P), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=a, src=x[nl.ds(i * P, P), nl.ds(j * P, P)])
            t = nl.ndarray((P, P), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=t, data=a)
            b = nl.ndarray((P, P), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=b, src=t)
            nisa.dma_copy(dst=out[nl.ds(j * P, P), nl.ds(i * P, P)], src=b)
    return out


def transposes_by_hand(x: Array) -> Callable[[], Array]:
    rows, columns = x.shape
    out = np.empty((columns, rows), x.dtype)
    a, t, b = (np.empty((P, P), x.dtype) for _ in range(3))

    def run() -> Array:
        for i in range(rows // P):
            for j in range(columns // P):
                np.copyto(a, x[i * P : i * P + P, j * P : j * P + P])
                np.copyto(t, a.T)
                np.copyto(b, t)
                np.copyto(out[j * P : j * P + P, i * P : i * P + P], b)
        return out

    return run


# ------------------------------------------------------------------ whole arrays


def whole_chain(x: Array, y: Array) -> Array:
    return np.maximum(np.exp(-((x * np.float32(0.5) + 1) * np.float32(0.25) - y)), y)


def whole_softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def whole_rmsnorm(x: Array, weight: Array) -> Array:
    mean = np.square(x).mean(axis=1, keepdims=True)
    return x / np.sqrt(mean + np.float32(1e-5)) * np.tile(weight, (len(x) // P, 1))


def cases() -> list[Case]:
    """Return the kernels, each in both data types."""
    rng = np.random.default_rng(0)
    found: list[Case] = []
    for name, dtype in DTYPES.items():

        def numbers(*shape: int, dtype: np.dtype[Any] = dtype) -> Array:
            return rng.standard_normal(shape, np.float32).astype(dtype)

        x, y = numbers(TILES * P, F), numbers(TILES * P, F)
        square = numbers(4 * P, 4 * P)
        loose = 1e-5 if name == "f32" else 2e-2
        weight, wide = numbers(P, F), numbers(4 * P, 2 * F)
        kernels = [
            ("add-multiply", add_multiply, add_multiply_by_hand, lambda a, b: (a + b) * b, (x, y)),
            ("chain", chain, chain_by_hand, whole_chain, (x, y)),
            ("softmax", softmax, softmax_by_hand, whole_softmax, (x,)),
            ("rmsnorm", rmsnorm, rmsnorm_by_hand, whole_rmsnorm, (x, weight)),
            ("matmul", matmul, matmul_by_hand, lambda a, b: a.T @ b, (square, wide)),
            ("transposes", transposes, transposes_by_hand, lambda a: a.T.copy(), (square,)),
        ]
        for kind, kernel, by_hand, whole, inputs in kernels:
            tolerance = 1e-2 if kind == "matmul" else loose
            found.append(Case(f"{kind} {name}", kernel, by_hand, whole, inputs, tolerance))
    return found


def check(case: Case) -> None:
    """Raise AssertionError unless the kernel and both implementations agree."""
    got = np.asarray(case.kernel(*case.inputs), np.float32)
    whole = case.whole(*(array.astype(np.float32) for array in case.inputs))
    for expected in (case.by_hand(*case.inputs)().astype(np.float32), whole):
        if not np.allclose(got, expected, rtol=case.tolerance, atol=case.tolerance):
            raise AssertionError(f"{case.name}: other results than by hand")


def on_whole_arrays(case: Case, rounds: int) -> float:
    """Time the implementation on whole float32 arrays, in µs: the minimum over rounds."""
    inputs = [array.astype(np.float32) for array in case.inputs]
    return min(seconds(lambda: case.whole(*inputs)) for _ in range(rounds)) * 1e6


def measured(case: Case, backend: str, rounds: int) -> Ratio:
    """Time a warm call relative to the hand-written implementation, in µs."""
    by_hand = case.by_hand(*case.inputs)
    with on_backend(backend):
        check(case)
        return call_by_call(lambda: case.kernel(*case.inputs), by_hand, rounds)


def geometric_mean(ratios: Sequence[Ratio]) -> float:
    """Return the geometric mean of the values of some ratios."""
    return math.exp(sum(math.log(ratio.value) for ratio in ratios) / len(ratios))
