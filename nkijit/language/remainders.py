"""Remainders: `mod` and `fmod`, computed by exact products and differences.

Multiples of the divisor are subtracted step by step. In each step, the quotient has so few bits (a
*portion*) that its products with the parts of the divisor are exact, and so are the differences.
The result is rounded only if a divisor has to be added at the end, as in NumPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nkijit import isa
from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import as_float
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.elementwise import binary_into, joint
from nkijit.language.tiles import in_sbuf, is_column, result, temporary
from nkijit.tracing import operators as nl
from nkijit.tracing.annotations import DTypeLike, Operand
from nkijit.tracing.tensor import NkiTensor


def mod(x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """Remainder of `x / y` with the sign of `y`, as Python's `%` and `numpy.mod`.

    Remainders of integers are exact, and 0 where `y` is 0. Floats have the float32 remainder of
    NumPy, rounded once to `dtype`, where `|x|` is below 2**127, `|y|` at least 2**-126 and
    `|x / y|` below 2**38, and NaN elsewhere. Integers are converted to float32 where the other
    operand is a float, or a number of more than 32 bits.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        rest = nl.mod(x, 3.0)

    No engine has an operator for remainders. A remainder takes 7 to 22 instructions if `y` is a
    number, and up to 33 instructions if `y` is a tile.
    Source: NKI API reference, nki.language.mod; the release notes for operators.
    """
    return _remainder("nl.mod", x, y, dtype, like_dividend=False)


def fmod(x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """Remainder of `x / y` with the sign of `x`, as C's `fmod`; accuracy as `mod`.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        rest = nl.fmod(x, 3.0)

    Source: NKI API reference, nki.language.fmod.
    """
    return _remainder("nl.fmod", x, y, dtype, like_dividend=True)


def _remainder(call: str, x: Any, y: Any, dtype: Any, *, like_dividend: bool) -> NkiTensor:
    shape, own = joint(call, x, y)
    out = result(call, shape, own if dtype is None else dtype)
    x_bits, y_bits = _integer_bits(x), _integer_bits(y)
    if x_bits is None or y_bits is None:
        _of_floats(out, x, y, _PORTIONS, like_dividend)
    elif max(x_bits, y_bits) > _FLOAT_BITS:
        _of_integers(out, x, y, like_dividend)
    else:
        _of_floats(out, x, y, 1 if x_bits <= _PORTION_BITS else 2, like_dividend)
    return out


_FLOAT_BITS = 24
"""The number of bits up to which float32 represents all integers."""


def _integer_bits(value: Any) -> int | None:
    """Return the bits of a tile's integer type, or of an integral number; None if not integral."""
    if isinstance(value, NkiTensor):
        dtype = DTYPES[value.dtype]
        return None if dtype.kind is Kind.float else dtype.bits
    number = as_float(value)
    if number is None:
        return None
    fits = -(2.0**31) <= number < 2.0**32 and number.is_integer()
    return int(number).bit_length() if fits else None


def _is_signed(value: Any) -> bool:
    if isinstance(value, NkiTensor):
        return DTYPES[value.dtype].signed
    return bool(np.signbit(float(value)))


def _in_partitions(tile: NkiTensor, of: NkiTensor) -> NkiTensor:
    """Return the tile, broadcast to the number of partitions of the tile `of`."""
    return broadcast_view(tile, (of.shape[0], *tile.shape[1:]))


# ------------------------------------------------------------------ in float32

_LARGEST = float(np.finfo(np.float32).max)
_SIGN, _SIZE = 1 << 31, (1 << 31) - 1
"""Masks for the sign bit of a float32, and for the other 31 bits."""
_PORTION_BITS = 12
"""Bits of a portion, and of a divisor part: half of float32's 24 bits, so products are exact."""
_HIGH = _SIGN + _SIZE - (2**_PORTION_BITS - 1)
"""A mask that clears the last 12 bits of a float32's significand."""
_PORTIONS = 3
_MOST = _PORTION_BITS + (_PORTIONS - 1) * (_PORTION_BITS + 1)
"""The exponent of the largest quotient, 2**_MOST, that is the sum of `_PORTIONS` portions."""


class _Divisor(NamedTuple):
    """The absolute value of a float32 divisor, its inverse and its parts (numbers or tiles)."""

    size: Any
    inverse: Any
    parts: tuple[Any, ...]
    """Numbers of at most 12 bits each whose sum is the divisor, if the divisor is finite."""


def _of_floats(out: NkiTensor, x: Any, y: Any, portions: int, like_dividend: bool) -> None:
    """Compute the remainder in float32; quotients have at most `portions` portions (see below).

    The sign of the result is removed from `x` first, and restored at the end. A portion is the
    quotient, rounded to a multiple of a power of 2 (the unit). The remaining quotient is at most
    half a unit, i.e. 2**12 units of the next portion; after the last portion, it is half a divisor.
    """
    rest = temporary("rest", out.shape)
    if isinstance(x, NkiTensor):
        isa.tensor_copy(rest, broadcast_view(x, out.shape))
    else:
        isa.memset(rest, x)
    divisor = _float_tile(y, out) if isinstance(y, NkiTensor) else np.float32(y)
    signed = _is_signed(x if like_dividend else y)
    sign = _sign(rest if like_dividend else divisor) if signed else None
    _flip(rest, rest, sign)
    size, inverse, parts = _divisor(divisor, y)
    quotient, lost = temporary("quotient", out.shape), None
    for portion in reversed(range(portions)):
        binary_into(nl.multiply, quotient, rest, inverse)
        if portion == _PORTIONS - 1:
            lost = _lost(rest, quotient)
        # A float32 near 1.5 * 2**23 units is a whole number of units.
        units = 1.5 * 2.0 ** (23 + portion * (_PORTION_BITS + 1))
        isa.tensor_scalar(quotient, quotient, nl.add, units, op1=nl.subtract, operand1=units)
        for part in parts:
            _subtract_product(rest, quotient, part)
    last = out if sign is None else rest
    _add_where_negative(last if lost is None else rest, rest, size)
    if lost is not None:
        isa.tensor_tensor(last, rest, lost, nl.add)
    if sign is not None:
        _flip(out, rest, sign)


def _lost(dividend: NkiTensor, quotient: NkiTensor) -> NkiTensor:
    """Return a tile with NaN where the remainder cannot be computed, else 0.

    The remainder cannot be computed if a quotient is too large, or if a multiple of the divisor may
    overflow.
    """
    lost, scale = temporary("lost", quotient.shape), 2.0 ** (128 - _MOST)
    isa.tensor_scalar(lost, dividend, nl.multiply, 2.0, op1=nl.multiply, operand1=0.0)
    isa.scalar_tensor_tensor(lost, quotient, nl.multiply, scale, nl.multiply, lost)
    return lost


def _float_tile(tile: NkiTensor, of: NkiTensor) -> NkiTensor:
    """Return a tile in float32 in SBUF, with the partitions of the tile `of`.

    The tile is contiguous, so that its bits can be viewed as integers.
    """
    in_place = tile.dtype == "float32" and tile.buffer is MemoryRegion.sbuf
    if in_place and tile.shape[0] == of.shape[0] and tile.is_contiguous():
        return tile
    tile = _in_partitions(tile, of)
    copied = temporary("divisor", tile.shape)
    isa.tensor_copy(copied, tile)
    return copied


def _sign(value: Any) -> Any:
    """Return a tile with the sign bits of a tile; for a negative number, return -1.0."""
    if not isinstance(value, NkiTensor):
        return -1.0
    sign = temporary("sign", value.shape, "uint32")
    isa.tensor_scalar(sign, value.view("uint32"), nl.bitwise_and, _SIGN)
    return sign


def _flip(dst: NkiTensor, src: NkiTensor, sign: Any) -> None:
    """Copy a float32 tile to `dst`, negated where `sign` is negative."""
    if not isinstance(sign, NkiTensor):
        if sign is not None:
            isa.tensor_scalar(dst, src, nl.multiply, sign)
        return
    bits = (dst if dst.dtype == "float32" else src).view("uint32")
    binary_into(nl.bitwise_xor, bits, src.view("uint32"), sign)
    if dst.dtype != "float32":
        isa.tensor_copy(dst, src)


def _divisor(divisor: Any, y: Any) -> _Divisor:
    """Return the parts of a float32 divisor that was converted from `y`."""
    if not isinstance(divisor, NkiTensor):
        return _number(np.float32(abs(divisor)))
    size, dtype = divisor, DTYPES[y.dtype]
    if dtype.signed:
        size = temporary("size", divisor.shape)
        isa.tensor_scalar(size.view("uint32"), divisor.view("uint32"), nl.bitwise_and, _SIZE)
    finite = size
    if dtype.kind is Kind.float:
        finite = temporary("finite", size.shape)
        isa.tensor_scalar(finite, size, nl.minimum, _LARGEST)
    inverse = temporary("inverse", size.shape)
    isa.reciprocal(inverse, size)
    if dtype.bits == 8 or (dtype.kind is Kind.float and dtype.bits == 16):
        return _Divisor(size, inverse, (finite,))  # it has no more than 12 bits
    high, low = temporary("high", size.shape), temporary("low", size.shape)
    isa.tensor_scalar(high.view("uint32"), finite.view("uint32"), nl.bitwise_and, _HIGH)
    isa.tensor_tensor(low, finite, high, nl.subtract)
    return _Divisor(size, inverse, (high, low))


def _number(size: np.float32) -> _Divisor:
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / size
        finite = np.minimum(size, np.float32(_LARGEST))
        high = (finite.view(np.uint32) & np.uint32(_HIGH)).view(np.float32)
        low = finite - high
    parts = tuple(float(part) for part in (high, low) if part != 0)
    return _Divisor(float(size), float(inverse), parts or (0.0,))


def _subtract_product(rest: NkiTensor, quotient: NkiTensor, part: Any) -> None:
    """Compute `rest -= quotient * part`."""
    if not isinstance(part, NkiTensor) or is_column(part, rest):
        isa.scalar_tensor_tensor(
            rest, quotient, nl.multiply, part, nl.subtract, rest, reverse1=True
        )
        return
    product = temporary("product", rest.shape)
    binary_into(nl.multiply, product, quotient, part)
    isa.tensor_tensor(rest, rest, product, nl.subtract)


def _add_where_negative(dst: NkiTensor, rest: NkiTensor, size: Any) -> None:
    """Compute `dst = rest`, plus `size` where `rest` is negative.

    Selects the bits of `size`, because an infinite size times 0 is NaN.
    """
    added = temporary("added", rest.shape, "int32")
    isa.tensor_scalar(added, rest, nl.less, 0.0, op1=nl.multiply, operand1=-1.0)  # all bits or none
    bits = size.view("int32") if isinstance(size, NkiTensor) else int(np.float32(size).view("i4"))
    binary_into(nl.bitwise_and, added, added, bits)
    isa.tensor_tensor(dst, rest, added.view("float32"), nl.add)


# ------------------------------------------------------------------ in native integers

_BELOW = 1 - 2.0**-21
"""A factor just below 1: a float32 quotient times this factor never exceeds the exact quotient."""


def _of_integers(out: NkiTensor, x: Any, y: Any, like_dividend: bool) -> None:
    """Compute the remainder of absolute values as uint32, in the GpSimd Engine's integers.

    Subtracting the divisor times the rounded-down float32 quotient leaves less than 2**12 divisors;
    a second subtraction leaves less than two divisors.
    """
    size, x_sign = _size(x, out, "dividend")
    divisor, y_sign = _size(y, out, "divisor")
    rest, multiple = (temporary(n, out.shape, "uint32") for n in ("rest", "multiple"))
    inverse = temporary("inverse", divisor.shape)
    isa.reciprocal(inverse, divisor)
    isa.tensor_scalar(inverse, inverse, nl.multiply, _BELOW)
    for left in (size, rest):
        _quotient(multiple, broadcast_view(left, out.shape), inverse)
        binary_into(nl.multiply, multiple, multiple, divisor)
        binary_into(nl.subtract, rest, left, multiple)
    _below(rest, divisor, multiple)
    if isinstance(y, NkiTensor) or y == 0:
        exists = temporary("exists", divisor.shape, "int32")
        isa.tensor_scalar(exists, divisor, nl.not_equal, 0.0, op1=nl.multiply, operand1=-1.0)
        binary_into(nl.bitwise_and, rest, rest, exists.view("uint32"))
    if like_dividend:
        sign = x_sign
    else:
        sign = y_sign
        differs = x_sign if y_sign is None else y_sign
        if x_sign is not None and y_sign is not None:
            differs = temporary("differs", out.shape, "int32")
            binary_into(nl.bitwise_xor, differs, x_sign, y_sign)
        if differs is not None:
            _negate(rest, differs)
            binary_into(nl.bitwise_and, multiple, differs.view("uint32"), divisor)
            isa.tensor_tensor(rest, rest, multiple, nl.add)
            _below(rest, divisor, multiple)
    if sign is not None:
        _negate(rest, sign)
    if out.dtype in ("int32", "uint32"):
        isa.tensor_copy(out.view("uint32"), rest)
    else:
        isa.tensor_copy(out, rest.view("uint32" if sign is None else "int32"))


def _size(value: Any, of: NkiTensor, hint: str) -> tuple[NkiTensor, NkiTensor | None]:
    """Return a tile of the absolute values as uint32, and a tile of the signs.

    A sign is -1 for a negative value, else 0. There are no signs (None) for unsigned types and for
    a number that is not negative.
    """
    if not isinstance(value, NkiTensor):
        size = temporary(hint, (of.shape[0], *(1,) * (of.ndim - 1)), "uint32")
        isa.memset(size, abs(int(value)))
        sign = None
        if value < 0:
            sign = temporary("sign", size.shape, "int32")
            isa.memset(sign, -1)
        return size, sign
    tile, dtype = in_sbuf(_in_partitions(value, of)), DTYPES[value.dtype]
    if dtype.bits < 32:
        tile = temporary(hint, tile.shape, "int32" if dtype.signed else "uint32")
        isa.tensor_copy(tile, _in_partitions(value, of))
    if not dtype.signed:
        return tile, None
    sign, size = temporary("sign", tile.shape, "int32"), temporary(hint, tile.shape, "int32")
    isa.tensor_scalar(sign, tile, nl.less, 0.0, op1=nl.multiply, operand1=-1.0)
    isa.tensor_copy(size, tile)
    _negate(size, sign)
    return size.view("uint32"), sign


def _quotient(count: NkiTensor, left: NkiTensor, inverse: NkiTensor) -> None:
    """Write to `count` an integer that is at most `left * inverse`, and less than 2 below it."""
    if is_column(inverse, left):
        isa.tensor_scalar(count, left, nl.multiply, inverse, op1=nl.subtract, operand1=0.5)
        return
    quotient = temporary("quotient", left.shape)
    binary_into(nl.multiply, quotient, left, inverse)
    isa.tensor_scalar(count, quotient, nl.subtract, 0.5)


def _below(rest: NkiTensor, divisor: NkiTensor, between: NkiTensor) -> None:
    """Compute `rest = rest - divisor` where this is not negative, as `min(rest, rest - divisor)`.

    The values are unsigned: a difference below 0 wraps and is larger than `rest`.
    """
    binary_into(nl.subtract, between, rest, divisor)
    isa.tensor_tensor(rest, rest, between, nl.minimum)


def _negate(integers: NkiTensor, sign: NkiTensor) -> None:
    """Negate integers where `sign` is -1: change all bits and add 1."""
    bits = sign.view(integers.dtype) if sign.dtype != integers.dtype else sign
    binary_into(nl.bitwise_xor, integers, integers, bits)
    binary_into(nl.subtract, integers, integers, bits)


__all__ = ["fmod", "mod"]
