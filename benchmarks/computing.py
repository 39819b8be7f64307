"""What a run computes, over the same work in NumPy by hand, and what a call adds to it."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import numpy.typing as npt

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.measuring import Ratio, call_by_call, in_turn, seconds
from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.numerics.storage import STORAGE, loader, rounder

Array = npt.NDArray[np.float32]
P, F = 128, 512
REPEATS = 40
LIMIT = 1.10
"""The most that interpreting may take of NumPy by hand."""
CALL_LIMIT = 100
"""The most that a cached call of the smallest kernel may take, in µs."""


@nki.jit
def tiles(x: Any, y: Any) -> Any:
    """Tile operations on 128x512 float32, for comparison with the same calls of NumPy."""
    out = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    c = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    column = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    for _ in range(REPEATS):
        nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)
        nisa.scalar_tensor_tensor(
            dst=c, data=c, op0=nl.multiply, operand0=0.5, op1=nl.subtract, operand1=b
        )
        nisa.tensor_reduce(dst=column, op=nl.maximum, data=c, axis=1)
        nisa.tensor_scalar(dst=c, data=c, op0=nl.subtract, operand0=column)
        nisa.activation(dst=a, op=nl.exp, data=c)
    nisa.dma_copy(dst=out, src=a)
    return out


def by_hand(x: Array, y: Array) -> Array:
    """The same tile operations, written in NumPy by hand."""
    out = np.empty((P, F), np.float32)
    a, b, c = (np.empty((P, F), np.float32) for _ in range(3))
    half = np.float32(0.5)
    np.copyto(a, x)
    np.copyto(b, y)
    for _ in range(REPEATS):
        np.add(a, b, out=c)
        np.multiply(c, half, out=c)
        np.subtract(c, b, out=c)
        column = np.max(c, axis=1, keepdims=True)
        np.subtract(c, column, out=c)
        np.exp(c, out=a)
    np.copyto(out, a)
    return out


def interpretation(rounds: int) -> Ratio:
    """A traced kernel over hand-written NumPy that does the same tile operations, in ms."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((P, F), dtype=np.float32) for _ in range(2))
    assert np.array_equal(tiles(x, y), by_hand(x, y))
    return in_turn(lambda: tiles(x, y), lambda: by_hand(x, y), rounds * 8, 1e-3)


CASTS: dict[str, float] = {
    "bfloat16": 6,
    "float16": 15,
    "float8_e4m3": 15,
    "float8_e4m3fn": 15,
    "float8_e5m2": 15,
    "float8_e8m0fnu": 15,
}
"""Narrow types, and the most that a cast to or from one may take of the time of a copy."""


def cast(name: str, rounds: int) -> tuple[Ratio, Ratio]:
    """Rounding a 128x512 tile to a narrow type, and loading it, each over a float32 copy; µs."""
    values = np.random.default_rng(0).standard_normal((P, F), dtype=np.float32)
    copied, stored = np.empty_like(values), np.empty((P, F), STORAGE[name])
    round_into, load = rounder(DTYPES[name]), loader(DTYPES[name])
    assert load is not None
    calls = 100 * rounds

    def copy() -> None:
        np.copyto(copied, values)

    narrow = call_by_call(lambda: round_into(stored, values), copy, calls)
    return narrow, call_by_call(lambda: load(stored), copy, calls)


@nki.jit
def smallest(x: Any, scale: float = 2.0) -> Any:
    """One instruction on one element."""
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


def cached_call(rounds: int) -> float:
    """What a call adds to the plan's work: the whole call of the smallest kernel, in µs."""
    x = np.ones((1, 1), np.float32)
    smallest(x)
    calls = 1000

    def loop() -> None:
        for _ in range(calls):
            smallest(x)

    return statistics.median(seconds(loop) for _ in range(rounds)) / calls * 1e6
