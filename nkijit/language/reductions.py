"""Reductions over the last free dimensions of a tile."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.language.axes import reduction
from nkijit.language.tiles import result, temporary
from nkijit.tracing import operators as nl
from nkijit.tracing.annotations import Axes, DTypeLike
from nkijit.tracing.checks import flag
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor


def _reduced(
    call: str, op: Word, x: Any, axis: Any, dtype: Any, keepdims: bool = False
) -> NkiTensor:
    r = reduction(call, x, axis)
    keepdims = flag(call, "keepdims", keepdims)
    out = result(call, r.kept if keepdims else r.dropped, r.x.dtype if dtype is None else dtype)
    r.reduce(out, op, r.x)
    return out


def sum(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Sum over the last free dimensions, in float32.

    Args:
        x: a tile.
        axis: the last free dimension, or the last few, up to 4; negative counts from the end.
        dtype: data type of the result, by default that of `x`.
        keepdims: retain the reduced dimensions with size 1. Otherwise a tile still has two
            dimensions: (P, N) becomes (P, 1).

    Example:

        total = nl.sum(x, axis=1, keepdims=True)

    Source: NKI API reference, nki.language.sum.
    """
    return _reduced("nl.sum", nl.add, x, axis, dtype, keepdims)


def max(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Maximum over the last free dimensions; arguments as `sum`.

    Example:

        largest = nl.max(x, axis=1)

    Source: NKI API reference, nki.language.max.
    """
    return _reduced("nl.max", nl.maximum, x, axis, dtype, keepdims)


def min(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Minimum over the last free dimensions; arguments as `sum`.

    Example:

        smallest = nl.min(x, axis=1)

    Source: NKI API reference, nki.language.min.
    """
    return _reduced("nl.min", nl.minimum, x, axis, dtype, keepdims)


def prod(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Product over the last free dimensions; arguments as `sum`.

    Example:

        product = nl.prod(x, axis=1)

    Source: NKI API reference, nki.language.prod.
    """
    return _reduced("nl.prod", nl.multiply, x, axis, dtype, keepdims)


def all(x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None) -> NkiTensor:
    """1 if no element along the last free dimensions is 0, else 0; arguments as `sum`.

    Example:

        every = nl.all(x, axis=1)

    Source: NKI API reference, nki.language.all.
    """
    return _reduced("nl.all", nl.logical_and, x, axis, dtype)


def mean(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Arithmetic mean over the last free dimensions, summed in float32; arguments as `sum`.

    Example:

        mean = nl.mean(x, axis=1)

    Source: NKI API reference, nki.language.mean.
    """
    r = reduction("nl.mean", x, axis)
    shape = r.kept if flag("nl.mean", "keepdims", keepdims) else r.dropped
    out = result("nl.mean", shape, r.x.dtype if dtype is None else dtype)
    total = temporary("total", shape)
    r.reduce(total, nl.add, r.x)
    isa.tensor_scalar(out, total, nl.multiply, 1 / r.count)
    return out


def var(
    x: NkiTensor, axis: Axes, dtype: DTypeLike | None = None, keepdims: bool = False
) -> NkiTensor:
    """Variance over the last free dimensions: the mean square of the distance to the mean.

    Example:

        variance = nl.var(x, axis=1)

    As in NumPy, the sum of the squares is divided by the number of elements. If whole rows are
    reduced, the Scalar Engine sums the squares in its accumulators. The arguments are those of
    `sum`. The result has the reduced dimensions with size 1 even without `keepdims`, as documented.
    Source: NKI API reference, nki.language.var.
    """
    del keepdims
    r = reduction("nl.var", x, axis)
    out = result("nl.var", r.kept, r.x.dtype if dtype is None else dtype)
    mean = temporary("negative_mean", r.kept)
    r.reduce(mean, nl.add, r.x, negate=True)
    isa.tensor_scalar(mean, mean, nl.multiply, 1 / r.count)
    squares, total = temporary("squares", r.x.shape), temporary("total", r.kept)
    if r.whole_rows:
        isa.activation_reduce(squares, nl.square, r.x, nl.add, total, bias=mean)
    else:
        isa.tensor_tensor(squares, r.x, r.spread(mean), nl.add)
        isa.activation(squares, nl.square, squares)
        r.reduce(total, nl.add, squares)
    isa.tensor_scalar(out, total, nl.multiply, 1 / r.count)
    return out


__all__ = ["all", "max", "mean", "min", "prod", "sum", "var"]
