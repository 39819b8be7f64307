"""Time of runs relative to hand-written NumPy, casts relative to copies, and a cached call."""

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
"""Limit for the interpreter, relative to hand-written NumPy."""
CALL_LIMIT = 100
"""Limit for a cached call of the smallest kernel, in µs."""


@nki.jit
def tiles(x: Any, y: Any) -> Any:
    """Tile operations on 128x512 float32."""
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
    """The operations of `tiles` in hand-written NumPy."""
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
    """Time `tiles` relative to the same operations in hand-written NumPy, in ms."""
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
"""Narrow types, with the limit for a cast to or from one relative to a float32 copy."""


def cast(name: str, rounds: int) -> tuple[Ratio, Ratio]:
    """Time the rounding of a 128x512 tile to a narrow type, and its conversion back to float32.

    Both are in µs and relative to a float32 copy.
    """
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
    """A kernel of one instruction on one element."""
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


def cached_call(rounds: int) -> float:
    """Time a cached call of the smallest kernel, in µs: the overhead of a call."""
    x = np.ones((1, 1), np.float32)
    smallest(x)
    calls = 1000

    def loop() -> None:
        for _ in range(calls):
            smallest(x)

    return statistics.median(seconds(loop) for _ in range(rounds)) / calls * 1e6
