"""Element-wise functions that no engine has as an operator, implemented with few instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from nkijit import isa
from nkijit.dialects.dtypes import DTYPES
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.elementwise import binary_into, joint, sine
from nkijit.language.tiles import expect_tile, in_sbuf, is_column, result, temporary
from nkijit.tracing import operators as nl
from nkijit.tracing.annotations import DTypeLike, Operand
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor


def negative(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """`-x`, as a multiplication with -1; integers of 32 bits are subtracted from 0, and wrap.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        opposite = nl.negative(x)

    Source: NKI API reference, nki.language.negative.
    """
    tile = expect_tile("nl.negative", "x", x)
    out = result("nl.negative", tile.shape, tile.dtype if dtype is None else dtype)
    if all(DTYPES[t.dtype].is_integer and DTYPES[t.dtype].bits == 32 for t in (tile, out)):
        zero = temporary("zero", (tile.shape[0], *(1,) * (tile.ndim - 1)), tile.dtype)
        isa.memset(zero, 0)
        binary_into(nl.subtract, out, zero, in_sbuf(tile))
    else:
        isa.tensor_scalar(out, tile, nl.multiply, -1.0)
    return out


def logical_not(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """1 where `x` is 0, else 0: the exclusive or with 1, on truth values.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        zeros = nl.logical_not(x)

    Source: NKI API reference, nki.language.logical_not.
    """
    tile = expect_tile("nl.logical_not", "x", x)
    out = result("nl.logical_not", tile.shape, tile.dtype if dtype is None else dtype)
    isa.tensor_scalar(out, tile, nl.logical_xor, 1.0)
    return out


# ------------------------------------------------------------------ trigonometry


def cos(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Cosine, computed as the sine of `x` plus a quarter turn; accurate where `nl.sin` is.

    Args:
        x: a tile of angles in radians.
        dtype: data type of the result, by default that of `x`.

    Example:

        cosine = nl.cos(x)

    Source: NKI API reference, nki.language.cos.
    """
    tile = expect_tile("nl.cos", "x", x)
    out = result("nl.cos", tile.shape, tile.dtype if dtype is None else dtype)
    sine(nl.sin, out, tile, quarter=True)
    return out


def tan(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Tangent, as sine times the reciprocal of the cosine; accurate where `nl.sin` is.

    Args:
        x: a tile of angles in radians.
        dtype: data type of the result, by default that of `x`.

    Example:

        tangent = nl.tan(x)

    Source: NKI API reference, nki.language.tan.
    """
    tile = expect_tile("nl.tan", "x", x)
    out = result("nl.tan", tile.shape, tile.dtype if dtype is None else dtype)
    sin, inverse = temporary("sin", tile.shape), temporary("inverse_cos", tile.shape)
    sine(nl.sin, sin, tile)
    sine(nl.sin, inverse, tile, quarter=True)
    isa.reciprocal(inverse, inverse)
    isa.tensor_tensor(out, sin, inverse, nl.multiply)
    return out


# ------------------------------------------------------------------ rounding


def floor(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """The largest integer that is not above `x`.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        below = nl.floor(x)

    Source: NKI API reference, nki.language.floor.
    """
    return _rounded("nl.floor", x, dtype, _above_floor)


def ceil(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """The smallest integer that is not below `x`.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        above = nl.ceil(x)

    Source: NKI API reference, nki.language.ceil.
    """
    return _rounded("nl.ceil", x, dtype, _above_ceil)


def trunc(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """The integer part of `x`.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        whole = nl.trunc(x)

    Source: NKI API reference, nki.language.trunc.
    """
    return _rounded("nl.trunc", x, dtype, _above_trunc)


_INTEGRAL = 2.0**23
"""The number from which on every float32 is an integer."""


def _rounded(call: str, x: Any, dtype: Any, above: Callable[[NkiTensor], NkiTensor]) -> NkiTensor:
    """Return `x` rounded to an integer: `x - above(x)`.

    `above` returns the difference of `x` and that integer.

    Engines round to integers only to nearest, when they write an integer type. All other steps are
    exact: infinities and NaN do not change, and a zero may have either sign.
    """
    tile = expect_tile(call, "x", x)
    out = result(call, tile.shape, tile.dtype if dtype is None else dtype)
    if DTYPES[tile.dtype].is_integer:
        isa.tensor_copy(out, tile)
    else:
        isa.tensor_tensor(out, tile, above(tile), nl.subtract)
    return out


def _from_nearest(
    x: NkiTensor, op0: Word, operand0: float | None, op1: Word, operand1: float
) -> NkiTensor:
    """Return the difference of `x` and the nearest integer.

    The two operators first limit `x` to the range of exact integers.
    """
    offset, nearest = temporary("offset", x.shape), temporary("nearest", x.shape, "int32")
    isa.tensor_scalar(offset, x, op0, operand0, op1=op1, operand1=operand1)
    isa.tensor_copy(nearest, offset)
    isa.tensor_tensor(offset, offset, nearest, nl.subtract)
    return offset


def _above_floor(x: NkiTensor) -> NkiTensor:
    offset = _from_nearest(x, nl.minimum, _INTEGRAL, nl.maximum, -_INTEGRAL)
    isa.scalar_tensor_tensor(offset, offset, nl.less, 0.0, nl.add, offset)
    return offset


def _above_ceil(x: NkiTensor) -> NkiTensor:
    offset = _from_nearest(x, nl.minimum, _INTEGRAL, nl.maximum, -_INTEGRAL)
    isa.scalar_tensor_tensor(offset, offset, nl.greater, 0.0, nl.subtract, offset, reverse1=True)
    return offset


def _above_trunc(x: NkiTensor) -> NkiTensor:
    offset = _from_nearest(x, nl.abs, None, nl.minimum, _INTEGRAL)
    isa.scalar_tensor_tensor(offset, offset, nl.less, 0.0, nl.add, offset)
    sign = temporary("sign", x.shape)
    isa.activation(sign, nl.sign, x)
    isa.tensor_tensor(offset, offset, sign, nl.multiply)
    return offset


# ------------------------------------------------------------------ division


def divide(x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """`x / y` in float32, as `x` times the reciprocal of `y`: engines do not divide.

    The reciprocal and the product are rounded, so that about one quotient in four is off by a unit
    in the last place. If `y` is a tile, its elements below 2**-128 have infinite reciprocals, and
    the reciprocals of its elements above 2**126 are less exact. A number `y` may be of any size.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        quotient = nl.divide(x, column)

    Source: NKI API reference, nki.language.divide; the release notes for the reciprocal.
    """
    shape, own = joint("nl.divide", x, y)
    out = result("nl.divide", shape, own if dtype is None else dtype)
    if not isinstance(y, NkiTensor):
        tile, inverse = cast(NkiTensor, x), _inverse(y)  # one of the two is a tile
        if (np.isfinite(inverse) and abs(inverse) >= _SMALLEST_NORMAL) or not 0 < abs(y) < np.inf:
            isa.tensor_scalar(out, tile, nl.multiply, inverse)
        else:
            scale = 2.0**24 if abs(y) < 1 else 2.0**-24
            inverse = _inverse(np.float32(y) * np.float32(scale))
            isa.tensor_scalar(out, tile, nl.multiply, inverse, op1=nl.multiply, operand1=scale)
        return out
    inverse = temporary("inverse", y.shape)
    isa.reciprocal(inverse, y)
    _multiply(out, x, inverse)
    return out


_SMALLEST_NORMAL = float(np.finfo(np.float32).smallest_normal)


def _inverse(number: Any) -> float:
    """Return the reciprocal of a number, computed in float32."""
    with np.errstate(all="ignore"):
        return float(np.float32(1) / np.float32(number))


def _multiply(out: NkiTensor, x: Any, y: NkiTensor) -> None:
    """Compute `out = x * y`; `x` is a tile or a number, `y` float32 in SBUF."""
    if not isinstance(x, NkiTensor):
        isa.tensor_scalar(out, y, nl.multiply, x)
    elif x.shape == out.shape and is_column(y, x):
        isa.tensor_scalar(out, x, nl.multiply, y)
    else:
        isa.tensor_tensor(
            out, broadcast_view(x, out.shape), broadcast_view(y, out.shape), nl.multiply
        )


__all__ = [
    "ceil",
    "cos",
    "divide",
    "floor",
    "logical_not",
    "negative",
    "tan",
    "trunc",
]
