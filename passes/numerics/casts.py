"""Casts between float32 and narrow float types, faster than NumPy's element-wise casts.

NumPy converts float16, and ml_dtypes the float8 types, one element at a time in software: 20 to 40
times the time of a float32 copy. The functions here compute the same bits in a few vectorised
passes of integer arithmetic, or with a table.

Each thread reuses its working arrays, as page faults of new arrays would double the time. Larger
operands are converted in chunks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Round = Callable[[Array, Array], None]
"""A function `round(dst, values)` that rounds float32 values into a view of narrow elements.

`dst` is the view. It has as many elements as `values`.
"""

_CHUNK = 128 * 512
"""The number of elements of a chunk.

Together with the working arrays, a chunk fits into the caches; tiles typically have this size.
"""


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.bits = np.empty(_CHUNK, np.int32)
        self.scale = np.empty(_CHUNK, np.int32)
        self.sign = np.empty(_CHUNK, np.uint16)
        self.index = np.empty(_CHUNK, np.intp)


_SCRATCH = _Scratch()


def _whole(round_chunk: Round) -> Round:
    """Extend a function of at most `_CHUNK` elements to arrays of any size."""

    def round_into(dst: Array, values: Array) -> None:
        if dst.size <= _CHUNK:
            round_chunk(dst, values)
            return
        values = np.broadcast_to(values, dst.shape)
        if np.may_share_memory(dst, values):
            values = values.copy()
        rows = max(1, _CHUNK * len(dst) // dst.size)
        for start in range(0, len(dst), rows):
            part = slice(start, start + rows)
            if rows == 1:
                part = start
            round_into(dst[part], values[part])

    return round_into


def _like(scratch: Array, values: Array) -> Array:
    return scratch[: values.size].reshape(values.shape)


# ------------------------------------------------------------------ float16

# float16 has 10 mantissa bits of float32's 23, and its smallest normal number is 2**-14.
_DROPPED_BITS = 23 - 10
_SMALLEST_NORMAL = (127 - 14) << 23
_OVERFLOW = (127 + 16) << 23
"""The float32 bits of 65536: this and larger numbers round to infinity in float16."""
_EXPONENT, _MAGNITUDE = 0x7F80_0000, 0x7FFF_FFFF
_FLOOR = np.full(_CHUNK, _SMALLEST_NORMAL, np.int32)
_LIMIT = np.full(_CHUNK, _OVERFLOW, np.int32)


def _round_chunk_to_float16(dst: Array, values: Array) -> None:
    """Round float32 to float16, to nearest, ties to even.

    Adding 2**(e + 13) to a number with exponent e leaves the ten mantissa bits of a float16 as the
    lowest bits of the sum, rounded by the addition. e is at least the exponent of the smallest
    normal number, so denormal results are rounded correctly as well, and so is a carry into the
    exponent.
    """
    words = values.view(np.int32)
    bits, scale, sign = (
        _like(array, values) for array in (_SCRATCH.bits, _SCRATCH.scale, _SCRATCH.sign)
    )
    np.bitwise_and(words, _MAGNITUDE, out=bits)
    largest = bits.max(initial=0)
    if largest > _OVERFLOW:
        np.minimum(bits, _like(_LIMIT, values), out=bits)
    np.bitwise_and(bits, _EXPONENT, out=scale)
    np.maximum(scale, _like(_FLOOR, values), out=scale)
    np.add(scale, _DROPPED_BITS << 23, out=scale)
    numbers = bits.view(np.float32)
    np.add(numbers, scale.view(np.float32), out=numbers)
    # The low bits are now the mantissas. The addition below puts the exponents above them, with an
    # offset that `bias` removes.
    np.right_shift(scale, _DROPPED_BITS, out=scale)
    np.add(bits, scale, out=bits)
    bias = (_SMALLEST_NORMAL + (_DROPPED_BITS << 23)) >> _DROPPED_BITS
    np.copyto(sign, np.less(words, 0))
    np.multiply(sign, np.uint16(0x8000), out=sign)
    np.subtract(sign, np.uint16(bias & 0xFFFF), out=sign)
    halves = _like(_SCRATCH.index.view(np.uint16), values)
    np.copyto(halves, bits, casting="unsafe")
    if largest <= _EXPONENT:
        np.add(halves, sign, out=dst.view(np.uint16))
        return
    np.add(halves, sign, out=halves)
    nan = np.isnan(values)
    with np.errstate(invalid="ignore"):
        halves[nan] = values[nan].astype(np.float16).view(np.uint16)
    dst.view(np.uint16)[...] = halves


round_to_float16 = _whole(_round_chunk_to_float16)
"""Round float32 to float16 as NumPy does, NaN bits included."""


@cache
def _every_float16() -> Array:
    with np.errstate(invalid="ignore"):  # CPUs with native conversion flag a signalling NaN
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def load_float16(array: Array) -> Array:
    """Convert float16 to a new float32 array."""
    exponents = np.bitwise_and(array.view(np.uint16), 0x7C00)
    if exponents.max(initial=0) == 0x7C00:
        # The arithmetic below is wrong for infinity and NaN.
        return _every_float16().take(array.view(np.uint16), mode="wrap")
    # Sign extension and a shift move sign, exponent and mantissa to their bits in float32. The
    # multiplication corrects the difference of the biases, also for denormal numbers.
    words = array.view(np.int16).astype(np.int32)
    np.left_shift(words, _DROPPED_BITS, out=words)
    np.bitwise_and(words, np.int32(-0x7000_2000), out=words)
    numbers = words.view(np.float32)
    np.multiply(numbers, np.float32(2.0**112), out=numbers)
    return numbers


# ------------------------------------------------------------------ float8


@cache
def float8_rounder(kept: np.dtype[Any]) -> Round:
    """Return a function that rounds float32 to the one-byte float type `kept`.

    The function rounds as ml_dtypes does.
    """
    # Take the 16 high bits of a float32 and set the last one if any bit below is set. This number
    # is on the same side of every tie between float8 values as the float32, so a table of the
    # 65536 patterns rounds exactly.
    with np.errstate(invalid="ignore"):
        patterns = np.arange(1 << 16, dtype=np.uint32) << 16
        table = patterns.view(np.float32).astype(kept).view(np.uint8)

    def round_chunk(dst: Array, values: Array) -> None:
        words = values.view(np.uint32)
        high = _like(_SCRATCH.bits.view(np.uint32), values)
        # Adding 0xFFFF to a nonzero low half carries into bit 16, which the mask has cleared.
        np.bitwise_and(words, 0xFFFF, out=high)
        np.add(high, 0xFFFF, out=high)
        np.bitwise_or(high, words, out=high)
        np.right_shift(high, 16, out=high)
        index = _like(_SCRATCH.index, values)
        np.copyto(index, high)
        dst.view(np.uint8)[...] = table.take(index, mode="wrap")

    return _whole(round_chunk)


@cache
def float8_loader(kept: np.dtype[Any]) -> Callable[[Array], Array]:
    """Return a function that converts the one-byte float type `kept` to a new float32 array."""
    table = np.arange(256, dtype=np.uint8).view(kept).astype(np.float32)

    def load(array: Array) -> Array:
        return table.take(array.view(np.uint8), mode="wrap")

    return load
