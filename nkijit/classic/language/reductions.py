"""Reductions over free dimensions of a tile, and softmax and rms_norm.

Source: NKI API reference 2.26, nki.language.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, cast

from nkijit import isa
from nkijit import language as current
from nkijit.classic.calls.assignment import Reduced
from nkijit.classic.calls.calls import Axis, composed, functional, raised, refuse_rest, with_shape
from nkijit.classic.isa.elementwise import tensor_tensor
from nkijit.classic.isa.movement import tensor_copy
from nkijit.classic.language.operators import Function
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa.reduce import MAX_REDUCED_DIMS
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.language.axes import legal_axes
from nkijit.tracing.checks import flag
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def _reduce(
    call: str,
    emit: Callable[..., Any],
    operand: str,
    fixed: dict[str, Any],
    x: Any,
    axis: Any,
    dtype: Any,
    mask: Any,
    keepdims: bool,
    rest: dict[str, Any],
) -> ClassicTensor:
    """The shared body of reductions: calls `emit(dst, axis=…, **fixed)` with `x` as `operand`."""
    refuse_rest(call, rest)
    tile = as_tensor(call, "x", x)
    keepdims = flag(call, "keepdims", keepdims)
    axes = _free_axes(call, tile.ndim, axis)
    left = [d for d in range(tile.ndim) if d not in axes]
    shape = [1 if d in axes else Axis(d) for d in range(tile.ndim) if keepdims or d not in axes]
    last = tuple(range(len(left), tile.ndim))

    def emit_last(dst: NkiTensor, **arguments: Any) -> None:
        if axes != last:
            arguments[operand] = arguments[operand].permute((*left, *axes))
            dst = with_shape(dst, [*(arguments[operand].shape[: len(left)]), *(1,) * len(axes)])
        emit(dst, **arguments)

    return functional(
        call,
        emit_last,
        {operand: tile, "axis": last, **fixed},
        dtype=tile.dtype if dtype is None else dtype,
        mask=mask,
        shape=shape,
        box_only=True,
    )


def _free_axes(call: str, rank: int, axis: Any) -> tuple[int, ...]:
    items = cast("tuple[Any, ...]", axis if isinstance(axis, (tuple, list)) else (axis,))
    axes = {item % rank for item in items if type(item) is int and -rank <= item < rank}
    free = len(axes) == len(items) <= MAX_REDUCED_DIMS and axes and 0 not in axes
    return tuple(sorted(axes)) if free else legal_axes(call, rank, axis, "t")


def _by_operator(call: str, op: Word, *arguments: Any) -> ClassicTensor:
    return _reduce(call, isa.tensor_reduce, "data", {"op": op}, *arguments)


class Reduction(Function):
    """A reduction such as `nl.max`, which instructions accept as an operator, too (`op=nl.max`)."""

    def __call__(
        self,
        x: Any,
        axis: Any,
        *,
        dtype: Any = None,
        mask: Any = None,
        keepdims: bool = False,
        **kwargs: Any,
    ) -> ClassicTensor:
        """Reduces the last free dimensions into a new tile; see `nkijit.isa.tensor_reduce`.

        Args:
            x: tile in SBUF or PSUM.
            axis: the last free dimension, or the last few, up to 4; negative counts from the end.
            dtype: data type of the result, by default that of `x`.
            mask: which elements are reduced; they must be a block.
            keepdims: retain the reduced dimensions with size 1. Otherwise a tile still has two
                dimensions: (P, N) becomes (P, 1).
        """
        op = Word(self.nki_operator)
        return _by_operator(repr(self), op, x, axis, dtype, mask, keepdims, kwargs)


max = Reduction("max", "Maximum.", of="maximum")
min = Reduction("min", "Minimum.", of="minimum")
prod = Reduction("prod", "Product.", of="multiply")
sum = Reduction("sum", "Sum.", of="add")


def all(x: Any, axis: Any, *, dtype: Any = bool, mask: Any = None, **kwargs: Any) -> ClassicTensor:
    """1 if no element along the last free dimensions is 0, else 0; arguments as for `nl.sum`."""
    return _by_operator("nl.all", Word("logical_and"), x, axis, dtype, mask, False, kwargs)


def mean(
    x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, keepdims: bool = False, **kwargs: Any
) -> ClassicTensor:
    """Arithmetic mean over the last free dimensions; arguments as for `nl.sum`.

    The result for integers is float32. See `nkijit.language.mean`.
    """
    return _moment("nl.mean", current.mean, x, axis, dtype, mask, keepdims, kwargs)


def var(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any) -> ClassicTensor:
    """Variance over the last free dimensions, as NumPy's; arguments as for `nl.sum`.

    The result for integers is float32. See `nkijit.language.var`.
    """
    return _moment("nl.var", current.var, x, axis, dtype, mask, False, kwargs)


def _moment(
    call: str,
    compute: Callable[..., NkiTensor],
    x: Any,
    axis: Any,
    dtype: Any,
    mask: Any,
    keepdims: bool,
    rest: dict[str, Any],
) -> ClassicTensor:
    own = as_dtype(as_tensor(call, "x", x).dtype).name
    wanted = ("float32" if DTYPES[own].is_integer else own) if dtype is None else dtype

    fixed = {"dtype": wanted}
    return _reduce(call, composed(compute), "x", fixed, x, axis, wanted, mask, keepdims, rest)


def softmax(
    x: Any,
    axis: Any,
    *,
    dtype: Any = None,
    compute_dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`exp(x - max) / sum(exp(x - max))`; see `nkijit.language.softmax`.

    Args:
        x: tile in SBUF or PSUM.
        axis: the last free dimension, or the last few.
        dtype: data type of the result, by default `compute_dtype`, else that of `x`.
        compute_dtype: the default of `dtype`, without any other effect; intermediate values are
            float32.
        mask: which elements take part; they must be a block.
    """
    call = "nl.softmax"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "x", x)
    wanted = _first_not_none(dtype, compute_dtype, tile.dtype)
    return functional(
        call,
        composed(current.softmax, axis=axis, dtype=wanted),
        {"x": tile},
        dtype=wanted,
        mask=mask,
        box_only=True,
    )


def rms_norm(
    x: Any,
    w: Any,
    axis: Any,
    n: Any,
    epsilon: float = 1e-06,
    *,
    dtype: Any = None,
    compute_dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`x / sqrt(sum(x * x) / n + epsilon) * w`; see `nkijit.language.rms_norm`.

    Args:
        x: tile in SBUF or PSUM.
        w: tile of weights, which broadcasts to the shape of `x`.
        axis: the last free dimension, or the last few, over which squares are summed.
        n: the number that the sum is divided by.
        epsilon: added to the mean square.
        dtype: data type of the result, by default `compute_dtype`, else that of `x`.
        compute_dtype: data type of intermediate tiles, by default float32.
        mask: which elements take part; they must be a block.
    """
    call = "nl.rms_norm"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "x", x)
    wanted = _first_not_none(dtype, compute_dtype, tile.dtype)

    def compute(x: NkiTensor, w: NkiTensor) -> NkiTensor:
        weights = raised(call, w, x.ndim)
        return current.rms_norm(x, weights, axis, n, epsilon, wanted, compute_dtype)

    return functional(
        call,
        composed(compute),
        {"x": tile, "w": as_tensor(call, "w", w)},
        dtype=wanted,
        mask=mask,
        box_only=True,
    )


def _first_not_none(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def loop_reduce(
    x: Any, op: Any, loop_indices: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any
) -> Reduced:
    """Reduce into the target of an assignment: `b[...] = nl.loop_reduce(a, op=np.add, …)`.

    The assignment computes `b[...] = b[...] op a`. In the first iteration, when no instruction has
    written `b` yet, it computes `b[...] = a`. The call cannot determine the target if the target is
    a variable: after `b = nl.loop_reduce(…)`, a use of `b` is an error.

    Args:
        x: tile in SBUF or PSUM.
        op: operator of two tiles.
        loop_indices: the loops to reduce over; without effect, because all loops are unrolled.
        dtype: without effect: the computation and the target have the target's data type.
        mask: which elements are reduced.
    """
    call = "nl.loop_reduce"
    refuse_rest(call, {key: value for key, value in kwargs.items() if key != "name"})
    compute = functools.partial(tensor_tensor, op=op, mask=mask, **kwargs)
    begin = functools.partial(tensor_copy, mask=mask, **kwargs)
    return Reduced(as_tensor(call, "x", x), compute, begin)


def all_reduce(
    x: Any,
    op: Any,
    program_axes: Any,
    *,
    dtype: Any = None,
    mask: Any = None,
    parallel_reduce: bool = True,
    asynchronous: bool = False,
    **kwargs: Any,
) -> NoReturn:
    """Refused: the instances of a grid are traced one after the other, without a common result.

    The tiles of later instances do not exist when an earlier instance needs the result.
    """
    tracer_for("nl.all_reduce").fail(
        UNSUPPORTED,
        "nl.all_reduce",
        "instances of a grid run one after the other, none has the tiles of later ones",
        "store the tiles to a tensor with buffer=nl.shared_hbm and reduce them in a second kernel",
    )


__all__ = [
    "all",
    "all_reduce",
    "loop_reduce",
    "max",
    "mean",
    "min",
    "prod",
    "rms_norm",
    "softmax",
    "sum",
    "var",
]
