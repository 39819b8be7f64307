"""Reductions over free dimensions and over partitions."""

from __future__ import annotations

import operator
from typing import Any, cast

from nkijit import isa
from nkijit.classic.calls.calls import Axis, with_shape
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.nisa.reduce import wrong_axes
from nkijit.dialects.rule_texts.shapes import REDUCE_AXES
from nkijit.tracing.checks import flag
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


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
    """Reduce free dimensions of a tile; see `nkijit.isa.tensor_reduce`.

    Args:
        op: reduction operator.
        data: (P, …) tile in SBUF or PSUM.
        axis: a free dimension, or up to 4; the instruction walks these dimensions last.
        mask: the block of elements that is reduced.
        dtype: data type of the result, by default that of `data`.
        negate: multiply the result by -1; arithmetic operators only.
        keepdims: retain the reduced dimensions, with size 1.

    Source: NKI API reference 2.26, nki.isa.tensor_reduce.
    """
    given = locals()
    call = "nisa.tensor_reduce"
    rank = as_tensor(call, "data", data).ndim
    given["axis"] = axes = _axes(call, axis)
    inner = sorted({axis % rank for axis in axes if -rank <= axis < rank})
    last = tuple(range(rank - len(inner), rank))
    wrong = wrong_axes(rank, axes if len(inner) < len(axes) or 0 in inner else last)
    if wrong is not None:
        tracer_for(call).fail(REDUCE_AXES, call, *wrong)
    kept = [dim for dim in range(rank) if dim not in inner]
    keepdims = flag("nisa.tensor_reduce", "keepdims", keepdims)
    shape = [Axis(dim) if dim in kept else 1 for dim in range(rank) if dim in kept or keepdims]
    if tuple(inner) == last:
        return returning("tensor_reduce", isa.tensor_reduce, given, shape=shape, box_only=True)

    def reduced(dst: NkiTensor, data: NkiTensor, **arguments: Any) -> None:
        arguments |= {"axis": last, "keepdims": False}
        result = with_shape(dst, tuple(data.shape[dim] for dim in kept))
        isa.tensor_reduce(result, data=data.permute((*kept, *inner)), **arguments)

    return returning("tensor_reduce", reduced, given, shape=shape, box_only=True)


def _axes(call: str, axis: Any) -> tuple[int, ...]:
    items = cast("tuple[Any, ...]", axis if isinstance(axis, (tuple, list)) else (axis,))
    try:
        return tuple(operator.index(item) for item in items)
    except TypeError:
        tracer_for(call).wrong_argument(call, "axis", "an integer or several", axis)


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
