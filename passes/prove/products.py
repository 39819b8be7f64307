"""Sums of products of digests, in which the order of the sums and of the factors is irrelevant.

Each digest is represented by five integers of 24 bits. A sum of products is represented by the five
sums of products of these integers, which float64 holds exactly. Two different sums are
different polynomials of degree 2, so all five sums are equal with a probability of about 2**-115
(Schwartz-Zippel lemma). Odd factors map the sums to words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nkijit.passes.prove import native
from nkijit.passes.prove.digests import CELL, LANES, Cells, Words, mixed, tag, weights, words

Numbers = npt.NDArray[np.float64]

COUNT = 5
"""The number of integers that represent a digest."""
LONGEST = 128
"""The number of products of 24-bit integers whose sum float64 holds exactly."""
WIDTH = 128
"""The number of columns that are computed at a time: intermediate arrays fit the cache."""

BLOCK = 64, 32
"""The rows and columns of a product of 128 terms that OpenBLAS computes on the calling thread.

Waiting for other threads takes longer than such a product when all processors are busy.
"""

_UNUSED = 8
"""The lower bits of each half of a word; the upper 24 bits are an integer."""
_LEFT_OUT = tag("left out", 0), tag("left out", 1)


def sums_of_products(stationary: Cells, moving: Cells) -> Cells:
    """Return `stationary` (K, M) transposed times `moving` (K, N): (M, N)."""
    columns = moving.shape[1]
    out = np.zeros((stationary.shape[1], columns, LANES), np.uint64)
    for start in range(0, len(stationary), LONGEST):
        depth = slice(start, start + LONGEST)
        left = _integers(stationary[depth])
        for first in range(0, columns, WIDTH):
            place = slice(first, first + WIDTH)
            out[:, place] += _summed(_multiplied(left, _integers(moving[depth, place])))
    return out.view(CELL)[..., 0]


def _integers(cells: Cells) -> Numbers:
    """Return five integers of 24 bits with a sign for each digest; 0 for the digest 0.

    Four integers are bits of the digest. The fifth is a hash of all bits, because it must depend
    on those that are in no other integer.
    """
    flat = words(cells)
    out = np.empty((COUNT, *cells.shape))
    if native.run("integers", out, (flat,), _LEFT_OUT):
        return out
    flat = mixed(np.array(flat))
    rest = flat[0::LANES] * _LEFT_OUT[0]
    rest += flat[1::LANES] * _LEFT_OUT[1]
    halves = (*flat.view(np.int32).reshape(-1, COUNT - 1).T, rest.view(np.int32)[1::2])
    for number, half in enumerate(halves):
        out[number] = (half >> _UNUSED).reshape(cells.shape)
    return out


def _multiplied(left: Numbers, right: Numbers) -> Numbers:
    """Return the products of matrices (5, K, M), transposed, and (5, K, N): (5, M, N)."""
    depth, rows, columns = *left.shape[1:], right.shape[2]
    out = np.empty((COUNT, rows, columns))
    m, n = BLOCK
    if rows % m or columns % n:
        return np.matmul(left.transpose(0, 2, 1), right, out=out)
    tall = left.reshape(COUNT, depth, rows // m, 1, m).transpose(0, 2, 3, 4, 1)
    wide = right.reshape(COUNT, depth, 1, columns // n, n).transpose(0, 2, 3, 1, 4)
    blocks = out.reshape(COUNT, rows // m, m, columns // n, n).transpose(0, 1, 3, 2, 4)
    np.matmul(tall, wide, out=blocks)
    return out


def _summed(sums: Numbers) -> Words:
    """Return five sums (5, M, N) as words (M, N, 2). The third sum is part of both words."""
    out = np.empty((*sums.shape[1:], LANES), np.uint64)
    factors = weights(3, "product")
    if native.run("summed", out, tuple(sums), factors):
        return out
    flat = sums.astype(np.int64).view(np.uint64)
    for number, factor in zip((1, 2, 4), factors, strict=True):
        flat[number] *= factor
    for lane, first in enumerate((0, 3)):
        np.add(flat[first] + flat[first + 1], flat[2], out=out[..., lane])
    return out
