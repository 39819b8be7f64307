"""Element-wise functions that are no operator of an engine, made of a few instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from nkijit import isa
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.broadcasting import broadcast_shape, broadcast_view
from nkijit.language.elementwise import sine
from nkijit.language.tiles import expect_tile, is_column, is_number, result, temporary
from nkijit.tracing import operators as nl
from nkijit.tracing.annotations import DTypeLike, Operand
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def negative(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """`-x`, as a multiplication with -1.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        opposite = nl.negative(x)

    Source: NKI API reference, nki.language.negative.
    """
    return _unary("nl.negative", x, dtype, nl.multiply, -1.0)


def logical_not(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """1 where `x` is 0, else 0: the exclusive or with 1, on truth values.

    Args:
        x: a tile.
        dtype: data type of the result, by default that of `x`.

    Example:

        zeros = nl.logical_not(x)

    Source: NKI API reference, nki.language.logical_not.
    """
    return _unary("nl.logical_not", x, dtype, nl.logical_xor, 1.0)


def _unary(call: str, x: Any, dtype: Any, op: Word, operand: float) -> NkiTensor:
    tile = expect_tile(call, "x", x)
    out = result(call, tile.shape, tile.dtype if dtype is None else dtype)
    isa.tensor_scalar(out, tile, op, operand)
    return out


# ------------------------------------------------------------------ trigonometry


def cos(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Cosine, as the sine a quarter turn further; accurate where `nl.sin` is.

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
"""From here on every float32 is an integer."""


def _rounded(call: str, x: Any, dtype: Any, above: Callable[[NkiTensor], NkiTensor]) -> NkiTensor:
    """`x` without what `above` says it is above the integer that is wanted.

    Engines round to integers in one way, to the nearest, when they write an integer type. The
    rest is exact: infinities and NaN stay, a zero comes out as either of the two.
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
    """`x`, brought into the range of integers by two operators, minus the nearest integer."""
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
    """`x / y`, as `x` times the reciprocal of `y`: engines do not divide.

    The quotient is rounded twice in float32, so it may be off by a unit in the last place.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        quotient = nl.divide(x, column)

    Source: NKI API reference, nki.language.divide; the release notes for the reciprocal.
    """
    shape, own = _shape_and_dtype("nl.divide", x, y)
    out = result("nl.divide", shape, own if dtype is None else dtype)
    if not isinstance(y, NkiTensor):
        with np.errstate(divide="ignore"):
            inverse = float(np.float32(1) / np.float32(y))
        isa.tensor_scalar(out, cast(NkiTensor, x), nl.multiply, inverse)  # one is a tile
        return out
    inverse = temporary("inverse", y.shape)
    isa.reciprocal(inverse, y)
    _multiply(out, x, inverse)
    return out


def mod(x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """Remainder of `x / y` with the sign of `y`, as Python's `%`.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        rest = nl.mod(x, 3.0)

    `x - floor(x / y) * y`, corrected where the quotient was rounded up to an integer or beyond.
    Exact where the integer quotient and its product with `y` are below 2**24, for integers, and
    within rounding of that product for others; NaN where `x` or `y` is infinite.
    Source: NKI API reference, nki.language.mod.
    """
    return _remainder("nl.mod", x, y, dtype, _above_floor)


def fmod(x: Operand, y: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """Remainder of `x / y` with the sign of `x`, as C's `fmod`; accuracy and arguments as `mod`.

    Args:
        x: a tile or a number.
        y: a tile or a number; one of the two is a tile. Tiles broadcast by NumPy's rules.
        dtype: data type of the result, by default that of the first tile.

    Example:

        rest = nl.fmod(x, 3.0)

    Source: NKI API reference, nki.language.fmod.
    """
    return _remainder("nl.fmod", x, y, dtype, _above_trunc)


def _remainder(
    call: str, x: Any, y: Any, dtype: Any, above: Callable[[NkiTensor], NkiTensor]
) -> NkiTensor:
    shape, own = _shape_and_dtype(call, x, y)
    out = result(call, shape, own if dtype is None else dtype)
    dividend, divisor = _whole("dividend", x, shape), _whole("divisor", y, shape)
    quotient, rest = temporary("quotient", shape), temporary("rest", shape)
    isa.reciprocal(quotient, divisor)
    isa.tensor_tensor(quotient, quotient, dividend, nl.multiply)
    isa.tensor_tensor(quotient, quotient, above(quotient), nl.subtract)
    isa.tensor_tensor(quotient, quotient, divisor, nl.multiply)
    isa.tensor_tensor(rest, dividend, quotient, nl.subtract)
    _correct(rest, divisor, dividend if above is _above_trunc else divisor)
    isa.tensor_copy(out, rest)
    return out


def _correct(rest: NkiTensor, divisor: NkiTensor, signed: NkiTensor) -> None:
    """Bring a remainder that is off by one divisor back to [0, |divisor|) times a sign."""
    size, sign = temporary("size", rest.shape), temporary("sign", rest.shape)
    step = temporary("step", rest.shape)
    isa.tensor_scalar(size, divisor, nl.abs, None)
    isa.activation(sign, nl.sign, signed)
    isa.tensor_tensor(rest, rest, sign, nl.multiply)
    # Below 0 a divisor is added, from a whole divisor on one is taken off.
    isa.scalar_tensor_tensor(step, rest, nl.less, 0.0, nl.multiply, size)
    isa.tensor_tensor(rest, rest, step, nl.add)
    isa.tensor_tensor(step, rest, size, nl.greater_equal)
    isa.tensor_tensor(step, step, size, nl.multiply)
    isa.tensor_tensor(rest, rest, step, nl.subtract)
    isa.tensor_tensor(rest, rest, sign, nl.multiply)


def _shape_and_dtype(call: str, x: Any, y: Any) -> tuple[tuple[int, ...], str]:
    tiles: dict[str, NkiTensor] = {}
    for name, value in (("x", x), ("y", y)):
        if not is_number(value):
            tiles[name] = expect_tile(call, name, value)
    if not tiles:
        tracer_for(call).fail(
            ARGUMENT, call, f"'x' and 'y' are numbers, {x!r} and {y!r}; one of them must be a tile"
        )
    return broadcast_shape(call, **tiles), next(iter(tiles.values())).dtype


def _whole(hint: str, value: Any, shape: tuple[int, ...]) -> NkiTensor:
    """An operand as a float32 tile of the whole shape."""
    whole = temporary(hint, shape)
    if isinstance(value, NkiTensor):
        isa.tensor_copy(whole, broadcast_view(value, shape))
    else:
        isa.memset(whole, value)
    return whole


def _multiply(out: NkiTensor, x: Any, y: NkiTensor) -> None:
    """`out = x * y`, `x` being a tile or a number and `y` in float32 and SBUF."""
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
    "fmod",
    "logical_not",
    "mod",
    "negative",
    "tan",
    "trunc",
]
