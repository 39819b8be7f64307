"""Functions that emit several instructions: softmax, rms_norm, where."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.axes import reduction
from nkijit.language.broadcasting import broadcast_shape, broadcast_view
from nkijit.language.tiles import expect_tile, in_sbuf, is_number, result, temporary
from nkijit.tracing import operators as nl
from nkijit.tracing.annotations import Axes, DTypeLike, Operand
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def softmax(x: NkiTensor, axis: Axes = -1, dtype: DTypeLike | None = None) -> NkiTensor:
    """`exp(x - max) / sum(exp(x - max))` over the last free dimensions.

    The exponentials are float32 until the last instruction. Where whole rows are reduced, one
    activation subtracts the maximum, exponentiates and sums, in the accumulators of the Scalar
    Engine.

    Args:
        x: a tile.
        axis: the last free dimension, or the last few, up to 4; negative counts from the end.
        dtype: data type of the result, by default that of `x`.

    Example:

        probabilities = nl.softmax(x, axis=1)

    Source: NKI API reference, nki.language.softmax.
    """
    r = reduction("nl.softmax", x, axis)
    out = result("nl.softmax", r.x.shape, r.x.dtype if dtype is None else dtype)
    largest, total = temporary("negative_max", r.kept), temporary("total", r.kept)
    exponentials = temporary("exponentials", r.x.shape)
    r.reduce(largest, nl.maximum, r.x, negate=True)
    if r.whole_rows:
        isa.activation_reduce(exponentials, nl.exp, r.x, nl.add, total, bias=largest)
        isa.reciprocal(total, total)
        isa.tensor_scalar(out, exponentials, nl.multiply, total)
        return out
    isa.tensor_tensor(exponentials, r.x, r.spread(largest), nl.add)
    isa.activation(exponentials, nl.exp, exponentials)
    r.reduce(total, nl.add, exponentials)
    isa.reciprocal(total, total)
    isa.tensor_tensor(out, exponentials, r.spread(total), nl.multiply)
    return out


def rms_norm(
    x: NkiTensor,
    w: NkiTensor,
    axis: Axes,
    n: int,
    epsilon: float = 1e-06,
    dtype: DTypeLike | None = None,
    compute_dtype: DTypeLike | None = None,
) -> NkiTensor:
    """`x / sqrt(sum(x * x) / n + epsilon) * w`.

    If whole rows are summed, the Scalar Engine computes the sums in its accumulators.

    Args:
        x: a tile.
        w: a tile of weights, which broadcasts to the shape of `x`.
        axis: the last free dimension, or the last few, over which the squares are summed.
        n: the number that the sum is divided by.
        epsilon: added to the mean square.
        dtype: data type of the result, by default that of `x`.
        compute_dtype: data type of intermediate tiles, by default float32. The sum and its
            root are always float32, because their instructions require it.

    Example:

        normed = nl.rms_norm(x, factors, axis=1, n=512)

    Source: NKI API reference, nki.language.rms_norm.
    """
    call = "nl.rms_norm"
    r = reduction(call, x, axis)
    weights = expect_tile(call, "w", w)
    if broadcast_shape(call, x=r.x, w=weights) != r.x.shape:
        tracer_for(call).fail(
            ARGUMENT, call, f"'w' has shape {weights.shape}, more than 'x' with {r.x.shape}"
        )
    if not is_number(n) or not is_number(epsilon) or n == 0:
        tracer_for(call).fail(
            ARGUMENT,
            call,
            f"'n' and 'epsilon': expected numbers, got {one_line(n)} and {one_line(epsilon)}",
        )
    between = dtype_named(
        call, "compute_dtype", "float32" if compute_dtype is None else compute_dtype
    )
    out = result(call, r.x.shape, r.x.dtype if dtype is None else dtype)
    squares = temporary("squares", r.x.shape, between.name)
    root = temporary("inverse_rms", r.kept)
    if r.whole_rows:
        isa.activation_reduce(squares, nl.square, r.x, nl.add, root)
    else:
        isa.activation(squares, nl.square, r.x)
        r.reduce(root, nl.add, squares)
    isa.tensor_scalar(root, root, nl.multiply, 1 / n, op1=nl.add, operand1=epsilon)
    isa.tensor_scalar(root, root, nl.rsqrt, None)
    # The tile of the squares is used again for the normalised values.
    weights = broadcast_view(weights, r.x.shape)
    if r.whole_rows:
        isa.tensor_scalar(squares, r.x, nl.multiply, root)
    else:
        isa.tensor_tensor(squares, r.x, r.spread(root), nl.multiply)
    isa.tensor_tensor(out, squares, weights, nl.multiply)
    return out


def where(
    condition: NkiTensor, x: Operand, y: Operand, dtype: DTypeLike | None = None
) -> NkiTensor:
    """`x` where `condition` is not 0, else `y`; tiles broadcast by NumPy's rules.

    On every generation, elements are selected bit by bit, `y ^ ((x ^ y) & mask)`, so that
    infinities and NaN in unselected elements do not matter.

    Args:
        condition: a tile, 1 for true and 0 for false.
        x: a tile or a number.
        y: a tile or a number.
        dtype: data type of the result, by default that of the first tile among `x` and `y`,
            else that of `condition`.

    Example:

        positive = nl.where(mask, x, 0.0)

    Source: NKI API reference, nki.language.where.
    """
    shape, own = _where_operands(condition, x, y)
    out = result("nl.where", shape, own if dtype is None else dtype)
    where_into(out, condition, x, y)
    return out


def where_into(out: NkiTensor, condition: NkiTensor, x: Operand, y: Operand) -> None:
    """Compute `where` into a tile of the broadcast shape of the operands."""
    shape, _ = _where_operands(condition, x, y)
    bits = f"int{DTYPES[out.dtype].bits}"
    mask = temporary("mask", condition.shape, bits)
    isa.tensor_scalar(
        mask, condition, nl.not_equal, 0.0, op1=nl.multiply, operand1=-1.0
    )  # -1 has all bits set
    chosen = _as_type(x, shape, out.dtype, "on_true").view(bits)
    other = _as_type(y, shape, out.dtype, "on_false").view(bits)
    selected = out.view(bits)
    isa.tensor_tensor(selected, chosen, other, nl.bitwise_xor)
    isa.tensor_tensor(selected, selected, broadcast_view(mask, shape), nl.bitwise_and)
    isa.tensor_tensor(selected, selected, other, nl.bitwise_xor)


def _where_operands(condition: Any, x: Any, y: Any) -> tuple[tuple[int, ...], str]:
    """Return the broadcast shape of the operands, and the default data type of the result."""
    call = "nl.where"
    tiles = {"condition": expect_tile(call, "condition", condition)}
    for name, value in (("x", x), ("y", y)):
        if not is_number(value):
            tiles[name] = expect_tile(call, name, value)
    own = next((t.dtype for n, t in tiles.items() if n != "condition"), tiles["condition"].dtype)
    return broadcast_shape(call, **tiles), own


def _as_type(value: Any, shape: tuple[int, ...], dtype: str, hint: str) -> NkiTensor:
    if isinstance(value, NkiTensor):
        fits = (value.shape, value.dtype) == (shape, dtype)
        if fits and value.is_contiguous():  # required for a view of its bits
            return in_sbuf(value)
    whole = temporary(hint, shape, dtype)
    if isinstance(value, NkiTensor):
        isa.tensor_copy(whole, broadcast_view(value, shape))
    else:
        isa.memset(whole, value)
    return whole


__all__ = ["rms_norm", "softmax", "where"]
