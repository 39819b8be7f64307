"""Elements whose bits are accessed at several widths: digests of their parts.

A tensor with views of several widths has a digest for each *granule*, the narrowest width. An
element of several granules is split when it is written and joined when it is read. The digest of a
part is a bijection of the element's digest, so that all parts of one element join to the element.
Parts of numbers are numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.passes.numerics.storage import storage
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import (
    CELL,
    FLAG,
    LANES,
    Cells,
    Words,
    cells_of,
    inverse,
    ordered,
    tag,
    words,
)

_NONE, _HALF = np.uint64(0), np.uint64(32)
_ALL = np.uint64((1 << 64) - 1)


def part_type(own: DType, size: int) -> DType:
    """Return the data type of granules of `size` bytes in a tensor of type `own`."""
    return own if own.itemsize == size else DTYPES[f"uint{8 * size}"]


def recast(algebra: Algebra, cells: Cells, dtype: DType, into: DType) -> Cells:
    """Return the same bits as elements of another type of equal width; numbers stay numbers."""
    if dtype is into:
        return cells
    out = algebra.recast(cells, dtype, into)
    known, numbers = _numbers(algebra, cells, dtype)
    _put_numbers(algebra, out, known, numbers[known], dtype, into)
    return out


def split(algebra: Algebra, cells: Cells, dtype: DType, part: DType) -> Cells:
    """Return the parts of elements, the lowest byte first: one more dimension at the end."""
    count = dtype.itemsize // part.itemsize
    bits = words(algebra.recast(cells, dtype, _raw(dtype.itemsize)))
    out = np.empty((*cells.shape, count), CELL)
    for number in range(count):
        found = cells_of(_part(algebra, bits, count, number), cells.shape)
        out[..., number] = algebra.recast(found, _raw(part.itemsize), part)
    known, numbers = _numbers(algebra, cells, dtype)
    _put_numbers(algebra, out, known, numbers[known], dtype, part)
    return out


def join(algebra: Algebra, parts: Cells, part: DType, dtype: DType) -> Cells:
    """Return elements from their parts: the inverse of `split`."""
    count, shape = parts.shape[-1], parts.shape[:-1]
    pieces = [np.ascontiguousarray(parts[..., number]) for number in range(count)]
    flat = [words(algebra.recast(each, part, _raw(part.itemsize))) for each in pieces]
    bits = [_whole(algebra, each, count, number) for number, each in enumerate(flat)]
    found = algebra.recast(cells_of(bits[0], shape), _raw(dtype.itemsize), dtype)
    equal = np.ones(found.size, np.bool_)
    for each, piece in zip(bits, flat, strict=True):
        same = each == bits[0]
        if not algebra.reassociates:
            same &= (piece & FLAG) == 0
        equal &= same.reshape(-1, LANES).all(axis=1)
    out = algebra.elements(("join", part.name, dtype.name), *pieces)
    out[equal.reshape(shape)] = found[equal.reshape(shape)]
    known, numbers = _numbers(algebra, parts, part)
    whole = np.logical_and.reduce(known, axis=-1)
    _put_numbers(algebra, out, whole, numbers[whole], part, dtype)
    return out


def _raw(size: int) -> DType:
    return DTYPES[f"uint{8 * size}"]


def _numbers(
    algebra: Algebra, cells: Cells, dtype: DType
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return which elements are numbers, and the numbers. The bits of a NaN are not known."""
    if dtype.kind is Kind.packed:
        return np.zeros(cells.shape, np.bool_), np.zeros(cells.shape)
    known, numbers = algebra.known(cells)
    return known & ~np.isnan(numbers), numbers


def _put_numbers(
    algebra: Algebra,
    out: Cells,
    where: npt.NDArray[np.bool_],
    numbers: npt.NDArray[np.float64],
    dtype: DType,
    into: DType,
) -> None:
    """Put the digests of numbers in some places: their bytes, read as another type than they have.

    Bytes that are a NaN in the other type are left out.
    """
    if into.kind is Kind.packed or not where.any():
        return
    some = out[where]
    stored = np.ascontiguousarray(numbers.astype(storage(dtype))).view(np.uint8)
    values = stored.reshape(-1).view(storage(into)).reshape(some.shape).astype(np.float64)
    known = ~np.isnan(values)
    some[known] = algebra.number(values[known])
    out[where] = some


def _part(algebra: Algebra, bits: Words, count: int, number: int) -> Words:
    """Map digests of bits to those of a part; invertible for digests without flags."""
    out = _scaled(algebra, bits, tag("part", count, number))
    flagged = ((bits & FLAG) != 0).reshape(-1, LANES).any(axis=1)
    if not algebra.reassociates and flagged.any():
        rows = bits.reshape(-1, LANES)[flagged]
        # A flag belongs to both lanes: without it, a part of `0 + a` would be one of `a`.
        flags = np.repeat((rows & FLAG).sum(axis=1, dtype=np.uint64), LANES)
        mixed = ordered(tag("flagged part", count, number), rows.reshape(-1), flags)
        out.reshape(-1, LANES)[flagged] = mixed.reshape(-1, LANES)
    return out


def _whole(algebra: Algebra, part: Words, count: int, number: int) -> Words:
    """Map digests of a part to those of the bits: the inverse of `_part`."""
    return _scaled(algebra, part, inverse(tag("part", count, number)))


def _scaled(algebra: Algebra, bits: Words, factor: np.uint64) -> Words:
    """Mix the bits of digests, apart from flags; the inverse factor gives the inverse function."""
    shift, mask = (_NONE, _ALL) if algebra.reassociates else (FLAG, _ALL >> FLAG)
    x = bits >> shift
    x ^= x >> _HALF
    x = (x * factor) & mask
    x ^= x >> _HALF
    return x << shift
