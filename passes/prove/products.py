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

COUNT = 5
"""The number of integers that represent a digest."""
LONGEST = 128
"""The number of products of 24-bit integers whose sum float64 holds exactly."""
WIDTH = 128
"""The number of columns that are computed at a time: intermediate arrays fit the cache."""

_UNUSED = 8
"""The lower bits of each half of a word; the upper 24 bits are an integer."""
_LEFT_OUT = tag("left out", 0), tag("left out", 1)


def sums_of_products(stationary: Cells, moving: Cells) -> Cells:
    """Return `stationary` (K, M) transposed times `moving` (K, N): (M, N)."""
    columns = moving.shape[1]
    out = np.zeros((stationary.shape[1], columns, LANES), np.uint64)
    for start in range(0, len(stationary), LONGEST):
        depth = slice(start, start + LONGEST)
        left = _integers(stationary[depth]).transpose(0, 2, 1)
        for first in range(0, columns, WIDTH):
            place = slice(first, first + WIDTH)
            out[:, place] += _summed(np.matmul(left, _integers(moving[depth, place])))
    return out.view(CELL)[..., 0]


def _integers(cells: Cells) -> npt.NDArray[np.float64]:
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


def _summed(sums: npt.NDArray[np.float64]) -> Words:
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
