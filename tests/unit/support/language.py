"""Functions of `nki.language` run on whole arrays, in SBUF or PSUM, on every generation."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

Array = npt.NDArray[Any]

TARGETS = ("trn1", "trn2", "trn3")

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, 3.0e38, -1.5], np.float32)


def run(
    function: Callable[..., Any],
    *arrays: Array,
    target: str = "trn3",
    psum: Collection[int] = (),
) -> Array:
    """Run `function` on tiles with the arrays; tiles at the positions `psum` are in PSUM.

    The traced kernel is also parsed from its text, with the same results.
    """

    def kernel(inputs):
        tiles = [nl.load(x) for x in inputs]
        for position in psum:
            copied = nl.ndarray(tiles[position].shape, tiles[position].dtype, buffer=nl.psum)
            nisa.tensor_copy(copied, tiles[position])
            tiles[position] = copied
        computed = function(*tiles)
        if computed.buffer is nl.psum:
            computed = nl.copy(computed)
        out = nl.ndarray(computed.shape, computed.dtype, buffer=nl.shared_hbm)
        nl.store(out, computed)
        return out

    traced = nki.jit(kernel, platform_target=target).trace(list(arrays))
    traced.verify()
    again = TracedKernel(parse(str(traced)))
    assert str(again) == str(traced)
    return again.run(*arrays)


def floats(shape: tuple[int, ...], seed: int = 0, scale: float = 4.0) -> Array:
    """Random float32 with special values among them."""
    values = np.random.default_rng(seed).normal(scale=scale, size=shape).astype(np.float32)
    values.reshape(-1)[: len(SPECIAL)] = SPECIAL[: values.size]
    return values


def same(actual: Array, expected: Array) -> None:
    """Equal, NaN to NaN, in type as well."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))


def near(actual: Array, expected: Array, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Equal but for the rounding of float32."""
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=rtol, atol=atol)
