"""Features that the public guides, tutorials and their examples use, in kernels written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl

Array = np.ndarray[Any, Any]

A = np.random.default_rng(3).integers(-2, 3, (64, 48)).astype(np.float32)
B = np.random.default_rng(4).integers(-2, 3, (64, 48)).astype(np.float32)


def stored(tile: Any) -> Any:
    """The tile in HBM."""
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


TRUTH: dict[str, Callable[[Any, Any], Any]] = {
    "not": lambda a, b: ~(a > 0),
    "and": lambda a, b: (a > 0) & (b > 0),
    "or": lambda a, b: (a > 0) | (b > 0),
    "xor": lambda a, b: (a > 0) ^ (b > 0),
    "not of not": lambda a, b: ~~(a > 0),
    "several": lambda a, b: ~((a > 0) & ~(b > 0)),
}


@pytest.mark.parametrize("formula", TRUTH.values(), ids=TRUTH)
def test_operators_of_bits_on_truth_values(formula: Callable[[Any, Any], Any]) -> None:
    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        return stored(formula(nl.load(a), nl.load(b)))

    result = kernel(A, B)
    assert result.dtype == np.bool_
    assert np.array_equal(result, formula(A, B))


def test_operators_of_bits_on_integers_stay_those_of_bits() -> None:
    @nki.jit
    def kernel(a: Any, b: Any) -> Any:
        return stored(nl.invert(nl.bitwise_and(nl.load(a), nl.load(b))))

    a, b = A.astype(np.int32), B.astype(np.int32)
    assert np.array_equal(kernel(a, b), ~(a & b))


def test_iota_of_a_loop_variable() -> None:
    @nki.jit
    def kernel(a: Any) -> Any:
        data = nl.load(a)
        for i in nl.sequential_range(4):
            step = nisa.iota(i, dtype=nl.uint32).broadcast_to(data.shape)
            data[...] = nl.add(data, step)
        return stored(data)

    assert np.array_equal(kernel(A), A + 6)


def test_iota_of_a_truth_value_is_refused() -> None:
    @nki.jit
    def kernel(a: Any) -> Any:
        return stored(nisa.iota(True, dtype=nl.uint32))

    with pytest.raises(nki.NkiValidationError, match="'expr': expected an index expression"):
        kernel(A)


@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
@pytest.mark.parametrize("transpose", [nl.transpose, nisa.nc_transpose])
def test_a_transpose_is_assigned_to_a_tile_of_another_type(transpose: Any, buffer: str) -> None:
    @nki.jit
    def kernel(a: Any) -> Any:
        result = nl.ndarray((48, 64), dtype=nl.bfloat16, buffer=getattr(nl, buffer))
        result[...] = transpose(nl.load(a))
        return stored(nl.copy(result))

    a = np.random.default_rng(5).standard_normal((64, 48)).astype(np.float32)
    assert np.array_equal(kernel(a), a.T.astype(ml_dtypes.bfloat16))


def test_shapes_compare_with_lists_and_tuples() -> None:
    seen: list[bool] = []

    @nki.jit
    def kernel(a: Any) -> Any:
        i, j = nl.mgrid[0:2, 0:3]
        blocks = nl.ndarray((2, nl.par_dim(4), 8), dtype=nl.float32, buffer=nl.sbuf)
        for shape, expected in (
            (a.shape, (64, 48)),
            (a[1:3].shape, (2, 48)),
            (nl.load(a).shape, (64, 48)),
            (a[i, j].shape, (2, 3)),
            (blocks.shape, (2, 4, 8)),
        ):
            other = (*expected[:-1], 1)
            seen.extend([shape == expected, shape == list(expected), list(expected) == shape])
            seen.extend([shape != other, shape != list(other), hash(shape) == hash(expected)])
        return stored(nl.load(a))

    kernel(A)
    assert seen == [True] * 30
