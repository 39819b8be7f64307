"""Functions of the classic language run on whole arrays, and NumPy's results."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import nkijit.classic as nki
import nkijit.classic.language as nl
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

Array = npt.NDArray[Any]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, 3.0e38, -1.5], np.float32)


def launch(kernel: Callable[..., Any], *arrays: Array, target: str = "trn2") -> Any:
    """Verify a kernel, and run the kernel parsed from its text."""
    traced = nki.jit(kernel, platform_target=target).trace(*arrays)
    traced.verify()
    return TracedKernel(parse(str(traced))).run(*arrays)


def run(
    function: Callable[..., Any],
    *arrays: Array,
    psum: Collection[int] = (),
    mask: Callable[..., Any] | None = None,
    target: str = "trn2",
) -> Array:
    """Run `function` on tiles with the arrays; tiles at the positions `psum` are in PSUM.

    With `mask`, an expression of the result's indices, only masked elements are stored, into zeros.
    """

    def body(tiles: list[Any]) -> Any:
        for position in psum:
            copied = nl.ndarray(tiles[position].shape, tiles[position].dtype, buffer=nl.psum)
            copied[...] = tiles[position]
            tiles[position] = copied
        computed = function(*tiles)
        out = nl.ndarray(computed.shape, computed.dtype, buffer=nl.shared_hbm)
        if mask is not None:
            nl.store(out, 0)
            nl.store(out, computed, mask=mask(*nl.mgrid[tuple(slice(n) for n in out.shape)]))
        else:
            nl.store(out, computed)
        return out

    def one(x):
        return body([nl.load(x)])

    def two(x, y):
        return body([nl.load(x), nl.load(y)])

    def three(x, y, z):
        return body([nl.load(x), nl.load(y), nl.load(z)])

    return launch((one, two, three)[len(arrays) - 1], *arrays, target=target)


def floats(shape: tuple[int, ...], seed: int = 0, scale: float = 4.0) -> Array:
    """Random float32 with special values among them."""
    values = np.random.default_rng(seed).normal(scale=scale, size=shape).astype(np.float32)
    values.reshape(-1)[: len(SPECIAL)] = SPECIAL[: values.size]
    return values


def integers(shape: tuple[int, ...], low: int, high: int, dtype: Any, seed: int = 0) -> Array:
    """Random integers."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def same(actual: Array, expected: Array) -> None:
    """Equal, NaN to NaN, in shape and type as well."""
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))


def near(actual: Array, expected: Array, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Equal but for the rounding of float32."""
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=rtol, atol=atol)
