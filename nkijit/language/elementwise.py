"""Emits the instructions that compute an operator on tiles: `nl.add(x, y)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nkijit import isa
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.broadcasting import broadcast_shape, broadcast_view
from nkijit.language.tiles import expect_tile, in_sbuf, is_column, is_number, result, temporary
from nkijit.tracing.operators import BinaryOperator, UnaryOperator, Word, add, bitwise_xor, multiply
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def binary(word: Word, x: Any, y: Any, dtype: Any) -> NkiTensor:
    """Compute `x op y` in a new tile.

    For tiles of one shape, emits one tensor_tensor; for a number, or a (P, 1) tile of a type that
    the instruction accepts, a tensor_scalar. Other shapes broadcast by views with a stride of 0.
    """
    shape, own = joint(repr(word), x, y)
    out = result(repr(word), shape, own if dtype is None else dtype)
    binary_into(word, out, x, y)
    return out


def joint(call: str, x: Any, y: Any) -> tuple[tuple[int, ...], str]:
    """Return the broadcast shape of two operands, and the data type of the first tile."""
    tiles = _operands(call, x, y)
    return broadcast_shape(call, **tiles), next(iter(tiles.values())).dtype


def binary_into(word: Word, out: NkiTensor, x: Any, y: Any) -> None:
    """Compute `out = x op y`; `out` has the broadcast shape of the operands."""
    tiles = _operands(repr(word), x, y)
    first = next(iter(tiles.values()))
    shape = broadcast_shape(repr(word), **tiles)
    dst = _destination(word, out, first.dtype)
    if len(tiles) == 1:
        number, reverse = (y, False) if "x" in tiles else (x, True)
        isa.tensor_scalar(dst, first, word, number, reverse0=reverse)
    elif x.shape == shape and _is_operand(word, y, x):
        isa.tensor_scalar(dst, x, word, y)
    elif y.shape == shape and _is_operand(word, x, y):
        isa.tensor_scalar(dst, y, word, x, reverse0=True)
    else:
        on_gpsimd = word.nki_operator == "power"  # it cannot access PSUM
        both_in_psum = x.buffer is y.buffer
        data1 = in_sbuf(x) if on_gpsimd else x
        data2 = in_sbuf(y) if on_gpsimd or both_in_psum else y
        isa.tensor_tensor(dst, broadcast_view(data1, shape), broadcast_view(data2, shape), op=word)
    if dst is not out:
        isa.tensor_copy(out, dst)


def unary(word: Word, x: Any, dtype: Any) -> NkiTensor:
    """Compute `op(x)` in a new tile: by `nisa.activation`, or as `_UNARY` specifies."""
    call = repr(word)
    tile = expect_tile(call, "x", x)
    out = result(call, tile.shape, tile.dtype if dtype is None else dtype)
    unary_into(word, out, tile)
    return out


def unary_into(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    """Compute `out = op(x)`; `out` has the shape of `x`."""
    _UNARY.get(word.nki_operator, _activation)(word, out, x)


def _operands(call: str, x: Any, y: Any) -> dict[str, NkiTensor]:
    """Return the tiles among the two operands; at least one is a tile."""
    tiles: dict[str, NkiTensor] = {}
    for name, value in (("x", x), ("y", y)):
        if isinstance(value, NkiTensor):
            tiles[name] = expect_tile(call, name, value)
        elif not is_number(value):
            tracer_for(call).wrong_argument(call, name, "a tile or a number", value)
    if not tiles:
        tracer_for(call).fail(
            ARGUMENT,
            call,
            f"'x' and 'y' are numbers, {one_line(x)} and {one_line(y)}; one of them must be a tile",
            "compute with numbers in Python",
        )
    return tiles


def _is_operand(word: Word, column: NkiTensor, data: NkiTensor) -> bool:
    expected = data.dtype if word.is_bitvec else "float32"
    return column.dtype == expected and is_column(column, data)


def _destination(word: Word, out: NkiTensor, dtype: str) -> NkiTensor:
    """Return the tile that the instruction writes: `out`, or a temporary that is converted later.

    Operators on bit patterns write the data type of their operands.
    """
    if not word.is_bitvec or out.dtype == dtype:
        return out
    return temporary("bits", out.shape, dtype)


# ------------------------------------------------------------------ functions of one tile


def _activation(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    isa.activation(out, word, x)


def _tensor_scalar(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    isa.tensor_scalar(out, x, word, None)


def _reciprocal(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    isa.reciprocal(out, x)


def _copy(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    isa.tensor_copy(out, x)


def _invert(word: Word, out: NkiTensor, x: NkiTensor) -> None:
    dst = _destination(word, out, x.dtype)
    isa.tensor_scalar(dst, x, bitwise_xor, -1)
    if dst is not out:
        isa.tensor_copy(out, dst)


# 2 pi in three parts. The first two have so few bits that their products with the number of
# turns, up to 2**13, are exact in float32.
_FIRST, _SECOND = 201 / 2**5, 2029 / 2**20
_TURN = (_FIRST, _SECOND, 2 * math.pi - _FIRST - _SECOND)


def sine(word: Word, out: NkiTensor, x: NkiTensor, *, quarter: bool = False) -> None:
    """Compute sin(x), or with `quarter` cos(x) = sin(x + pi / 2), after subtracting whole turns.

    The Scalar Engine's sine is valid only within half a turn of 0.
    """
    turns = temporary("turns", x.shape, "int32")  # rounds to the nearest
    shift: dict[str, Any] = {"op1": add, "operand1": 0.25} if quarter else {}
    isa.tensor_scalar(turns, x, multiply, 1 / (2 * math.pi), **shift)
    angle = temporary("angle", x.shape)
    isa.scalar_tensor_tensor(angle, turns, multiply, -_TURN[0], add, x)
    for part in _TURN[1:]:
        isa.scalar_tensor_tensor(angle, turns, multiply, -part, add, angle)
    if quarter:
        isa.tensor_scalar(angle, angle, add, math.pi / 2)
    isa.activation(out, word, angle)


_UNARY: dict[str, Callable[[Word, NkiTensor, NkiTensor], None]] = {
    "abs": _tensor_scalar,
    "copy": _copy,
    "invert": _invert,
    "reciprocal": _reciprocal,
    "rsqrt": _tensor_scalar,
    "sin": sine,
}
"""Operators that are not computed by `nisa.activation`.

The reference names the engines of three words: `copy` is a bit-exact tensor_copy, `rsqrt` runs on
the GpSimd Engine, which cannot access PSUM, and `invert` is an exclusive or with ones. `reciprocal`
and `abs` could run on the Scalar Engine as well, but the Vector Engine is more precise.
"""


UnaryOperator.compute = unary
BinaryOperator.compute = binary
