"""Arrays of 128-bit digests, and the functions that mix them.

A digest is two 64-bit words, the *lanes*. All functions treat both lanes in the same way; the lanes
differ because atoms (inputs and constants) start with independent words. The lowest bit of a word
is 0 or a flag. Two different terms therefore collide in both lanes with a probability of about
2**-126.

Tiles of digests are stored as arrays of `CELL`, a NumPy type of 16 bytes that is only copied and
never computed with. Functions compute on *words*: flat, contiguous arrays of uint64, two per cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.passes.prove import native

Cells = npt.NDArray[Any]
"""An array of digests: the data type is `CELL`."""
Words = npt.NDArray[np.uint64]

CELL = np.dtype(np.complex128)
LANES = 2
BLOCK = 1 << 14
"""The number of words that are mixed at a time: intermediate arrays fit the cache."""

_FIRST, _SECOND = np.uint64(native.FIRST), np.uint64(native.SECOND)
_32, _29 = np.uint64(32), np.uint64(29)
_BITS = 1 << 64
FLAG, EVEN = np.uint64(1), np.uint64(_BITS - 2)


@cache
def tag(*parts: object) -> np.uint64:
    """Return an odd word that identifies a constructor and its parameters."""
    digest = blake2b(repr(parts).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little") | 1)


@cache
def weights(count: int, name: str = "place") -> Words:
    """Return `count` odd words, one for each place in a sequence."""
    numbers = np.arange(count, dtype=np.uint64) * _FIRST + tag("weights", name)
    scrambled(numbers)
    scrambled(numbers)
    result = numbers | np.uint64(1)
    result.flags.writeable = False
    return result


def words(cells: Cells, shape: tuple[int, ...] | None = None) -> Words:
    """Return the words of an array, broadcast to `shape`, as a flat array; may be a view."""
    if shape is not None and cells.shape != shape:
        cells = np.broadcast_to(cells, shape)
    return np.ascontiguousarray(cells).reshape(-1).view(np.uint64)


def cells_of(flat: Words, shape: tuple[int, ...]) -> Cells:
    """Return flat words as an array of digests."""
    return flat.view(CELL).reshape(shape)


def mixed(x: Words) -> Words:
    """Scramble words in place, and return them: the last step of every constructor."""
    t = np.right_shift(x, _32)
    np.bitwise_xor(x, t, x)
    np.multiply(x, _FIRST, x)
    np.right_shift(x, _29, t)
    np.bitwise_xor(x, t, x)
    np.bitwise_and(x, EVEN, x)
    return x


def scrambled(x: Words) -> Words:
    """Scramble words of atoms in place, so that neighbours become unrelated words."""
    mixed(x)
    np.multiply(x, _SECOND, x)
    np.bitwise_xor(x, np.right_shift(x, _32), x)
    np.bitwise_and(x, EVEN, x)
    return x


def ordered(name: np.uint64, *operands: Words) -> Words:
    """Return the digest of a constructor with operands in a fixed order.

    `name` is the constructor's `tag`. All operands have the same length.
    """
    first = operands[0]
    out = np.empty_like(first)
    factors = weights(len(operands), "operand")
    if native.run(f"ordered{len(operands)}", out, operands, (name, *factors)):
        return out
    for start in range(0, len(first), BLOCK):
        part = slice(start, start + BLOCK)
        total = out[part]
        np.multiply(first[part], factors[0], total)
        for operand, factor in zip(operands[1:], factors[1:], strict=True):
            np.add(total, operand[part] * factor, total)
        np.add(total, name, total)
        mixed(total)
    return out


def unordered(name: np.uint64, x: Words, y: Words) -> Words:
    """Return the digest of a commutative constructor.

    (x + name) (y + name) depends on both words and not on their order. Names are odd and words
    without flags even, so that each factor is odd and the product loses no bits of the other one.
    """
    out = np.empty_like(x)
    if native.run("unordered", out, (x, y), (name,)):
        return out
    for start in range(0, len(x), BLOCK):
        part = slice(start, start + BLOCK)
        total = out[part]
        np.add(x[part], name, total)
        np.multiply(total, y[part] + name, total)
        mixed(total)
    return out


def weighted_sums(cells: Cells) -> Cells:
    """Return the digest of each row of a (P, N) array, as a sum with a weight per place: (P, 1)."""
    rows, count = cells.shape
    sums: Words = weights(count) @ words(cells).reshape(rows, count, LANES)
    return sums.view(CELL)


def row_sums(flat: Words) -> Cells:
    """Return the sums of each row of a (P, 2 N) array of words, lane by lane: cells (P, 1)."""
    out = np.empty((len(flat), LANES), np.uint64)
    for lane in range(LANES):
        np.add.reduce(flat[:, lane::LANES], axis=1, out=out[:, lane])
    return out.view(CELL)


def column_sums(cells: Cells) -> Cells:
    """Return the digest of each column of a (P, N) array, with a weight per row: (N,)."""
    rows, count = cells.shape
    flat = words(cells).reshape(rows, count * LANES)
    sums: Words = np.einsum("i,ij->j", weights(rows), flat)
    return sums.view(CELL)


def prefixes(cells: Cells) -> Words:
    """Return the digest of each prefix of each row of a (P, N) array, as words (P, N, 2)."""
    rows, count = cells.shape
    flat = words(cells).reshape(rows, count, LANES) * weights(count)[:, None]
    return np.add.accumulate(flat, axis=1, out=flat)


def atoms(count: int, *name: object) -> Cells:
    """Return the digests of the elements of an input: a flat array of `count` cells."""
    out = np.empty((count, LANES), np.uint64)
    seeds = [tag("atom", lane, *name) for lane in range(LANES)]
    for start in range(0, count, BLOCK):
        numbers = np.arange(start, min(start + BLOCK, count), dtype=np.uint64) * _SECOND
        for lane, seed in enumerate(seeds):
            out[start : start + BLOCK, lane] = scrambled(numbers + seed)
    return out.view(CELL).reshape(count)


def numbers(values: Any) -> Cells:
    """Return the digests of numbers, by value; equal numbers of different types are equal."""
    exact: npt.NDArray[np.float64] = np.asarray(values).astype(np.float64)
    shape, exact = exact.shape, exact.reshape(-1)
    bits = np.where(np.isnan(exact), np.nan, exact).view(np.uint64)
    out = np.empty((len(bits), LANES), np.uint64)
    for lane in range(LANES):
        out[:, lane] = scrambled(scrambled(bits * _SECOND + tag("number", lane)))
    return out.view(CELL).reshape(shape)


def inverse(number: np.uint64) -> np.uint64:
    """Return the inverse of an odd word modulo 2**64."""
    return np.uint64(pow(int(number), -1, _BITS))


def differ(old: Cells, new: Cells) -> npt.NDArray[np.bool_]:
    """Return where two arrays of the same shape have different digests."""
    shape = (*old.shape, old.dtype.itemsize // CELL.itemsize * LANES)
    return (words(old).reshape(shape) != words(new).reshape(shape)).any(axis=-1)


def spread(cells: Sequence[Cells], shape: tuple[int, ...]) -> list[Words]:
    """Return the words of several arrays, all broadcast to a shape."""
    return [words(each, shape) for each in cells]
