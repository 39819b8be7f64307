"""Quotients and remainders in indices, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.language as nl
from nkijit.passes.diagnostics.errors import NkiValidationError


def stored(start: int, step: int, count: int, size: int, rows: int) -> Any:
    """A kernel that stores `count` columns at the quotients and remainders of an index."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray((128, rows, size), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.zeros((nl.par_dim(128), rows, size), x.dtype))
        tile = nl.load(x)
        p, i = nl.arange(128)[:, None], nl.arange(count)[None, :]
        index = step * i + start
        nl.store(out[p, index // size, index % size], tile[p, i])
        return out

    return kernel


@pytest.mark.parametrize(
    ("start", "step", "count", "size", "rows"),
    [
        (0, 1, 384, 64, 6),  # the whole tensor
        (17, 1, 300, 64, 6),  # across rows, from the middle of one to the middle of another
        (64, 1, 64, 64, 6),  # one row
        (3, 1, 61, 64, 6),  # a part of a row
        (5, 64, 6, 64, 6),  # a column
        (5, 3, 100, 64, 6),  # with a step
        (0, 1, 100, 100, 1),  # the quotient is 0
        (0, 1, 7, 1, 7),  # the remainder is 0
    ],
)
def test_both_index_two_dimensions(start: int, step: int, count: int, size: int, rows: int) -> None:
    x = np.random.default_rng(0).standard_normal((128, count)).astype(np.float32)
    index = step * np.arange(count) + start
    expected = np.zeros((128, rows, size), np.float32)
    expected[:, index // size, index % size] = x
    np.testing.assert_array_equal(stored(start, step, count, size, rows)(x), expected)


def test_tiles_on_chip_and_blocks_of_an_index() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((128, 4, 8), x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((nl.par_dim(128), 4, 8), x.dtype, buffer=nl.sbuf)
        flat = nl.arange(32)
        tile[nl.arange(128)[:, None], (flat // 8)[None, :], (flat % 8)[None, :]] = nl.load(x)
        p, i, j = nl.mgrid[0:128, 0:4, 0:8]
        both = 8 * (3 - i) + j
        nl.store(out, nl.copy(tile[p, both // 8, both % 8]))
        return out

    x = np.random.default_rng(0).standard_normal((128, 32)).astype(np.float32)
    np.testing.assert_array_equal(kernel(x), x.reshape(128, 4, 8)[:, ::-1])


@pytest.mark.parametrize(
    "index",
    [
        lambda i: (i // 64, i % 32),  # of different divisors
        lambda i: (i // 32, i % 32),  # the dimension has 64
        lambda i: (i % 64, i // 64),
        lambda i: (i // 64, (i + 1) % 64),
        lambda i: (i // 64 + 1, i % 64),
    ],
)
def test_others_are_not_affine(index: Any) -> None:
    @nki.jit
    def kernel(x):
        p, i = nl.arange(128)[:, None], nl.arange(384)[None, :]
        return nl.load(x[(p, *index(i))])

    with pytest.raises(NkiValidationError, match="is not affine"):
        kernel.trace(np.zeros((128, 64, 64), np.float32))
