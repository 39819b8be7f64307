"""Reductions over free dimensions and over partitions."""

from __future__ import annotations

import operator
from typing import Any, cast

from nkijit import isa
from nkijit.classic.calls import Axis
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors import ClassicTensor, as_tensor
from nkijit.dialects.nisa.reduce import reduced_dims, wrong_axes
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.rule_texts.shapes import REDUCE_AXES
from nkijit.tracer import tracer_for


def tensor_reduce(
    op: Any,
    data: Any,
    axis: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    negate: bool = False,
    keepdims: bool = False,
    **kwargs: Any,
) -> ClassicTensor:
    """Reduce the last free dimensions of a tile; see `nkijit.isa.tensor_reduce`.

    Args:
        op: reduction operator.
        data: (P, …) tile in SBUF or PSUM.
        axis: the last free dimension, or the last few, up to 4.
        mask: the block of elements that is reduced.
        dtype: data type of the result, by default that of `data`.
        negate: multiply the result by -1; arithmetic operators only.
        keepdims: the reduced dimensions stay, with size 1.

    Source: NKI API reference 2.26, nki.isa.tensor_reduce.
    """
    given = locals()
    call = "nisa.tensor_reduce"
    rank = as_tensor(call, "data", data).ndim
    given["axis"] = axes = _axes(call, axis)
    wrong = wrong_axes(rank, axes)
    if wrong is not None:
        tracer_for(call).fail(REDUCE_AXES, call, wrong)
    first = rank - cast(int, reduced_dims(rank, axes))
    kept: list[int] = [Axis(d) for d in range(first)]
    shape = kept + [1] * (rank - first) if keepdims else kept
    return returning("tensor_reduce", isa.tensor_reduce, given, shape=shape, box_only=True)


def _axes(call: str, axis: Any) -> tuple[int, ...]:
    items = cast("tuple[Any, ...]", axis if isinstance(axis, (tuple, list)) else (axis,))
    try:
        return tuple(operator.index(item) for item in items)
    except TypeError:
        tracer_for(call).fail(
            ARGUMENT, call, f"'axis': expected an integer or several, got {axis!r}"
        )


def tensor_partition_reduce(
    op: Any, data: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """Reduce a (P, …) tile to a (1, …) tile; see `nkijit.isa.tensor_partition_reduce`.

    Args:
        op: add, max, bitwise_or or bitwise_and.
        data: (P, …) tile in SBUF.
        mask: the block of elements that is reduced.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.tensor_partition_reduce.
    """
    given = locals()
    rank = as_tensor("nisa.tensor_partition_reduce", "data", data).ndim
    return returning(
        "tensor_partition_reduce",
        isa.tensor_partition_reduce,
        given,
        shape=(1, *(Axis(d) for d in range(1, rank))),
        box_only=True,
    )


__all__ = ["tensor_partition_reduce", "tensor_reduce"]
