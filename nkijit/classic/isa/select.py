"""Selection by a predicate, and the bounds of segments."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from nkijit import isa
from nkijit.classic.calls.calls import Axis
from nkijit.classic.indexing.expressions import Index, as_integer, as_mask
from nkijit.classic.indexing.predicates import select
from nkijit.classic.isa.bodies import returning, writing
from nkijit.classic.isa.constants import reduce_cmd
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nisa.select import FP32_MIN
from nkijit.dialects.rule_texts.classic import MASK_EXPRESSION
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

_idle = reduce_cmd.idle


class fp32:
    """Constants of float32."""

    min = FP32_MIN
    """The lowest finite number."""


def tensor_copy_predicated(
    *,
    src: Any,
    dst: Any,
    predicate: Any,
    reverse_pred: bool = False,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> None:
    """Copy `src` to `dst` where a predicate holds; see `nkijit.isa.tensor_copy_predicated`.

    Args:
        src: number, or tile of the data type of `dst`.
        dst: (P, …) tile in SBUF or PSUM that is written.
        predicate: uint8, uint16, uint32 or bool_ tile.
        reverse_pred: copy where `predicate` is 0.
        mask: the block of elements that may be copied.
        dtype: data type of `dst`.

    Source: NKI API reference 2.26, nki.isa.tensor_copy_predicated.
    """
    writing("tensor_copy_predicated", isa.tensor_copy_predicated, locals())


def affine_select(
    pred: Any,
    on_true_tile: Any,
    on_false_value: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`on_true_tile` where a predicate holds, else a number; see `nkijit.isa.affine_select`.

    Args:
        pred: comparison of affine index expressions. Comparisons joined with & are lowered to one
            instruction each; the reference documents a single comparison.
        on_true_tile: (P, …) tile in SBUF. A tile in PSUM, as in published kernels, is copied to
            SBUF first, because the GpSimd Engine does not reach PSUM.
        on_false_value: number.
        mask: which elements are computed.
        dtype: data type of the result, by default that of `on_true_tile`.

    Source: NKI API reference 2.26, nki.isa.affine_select.
    """
    arguments = {**locals(), "pred": as_mask("nisa.affine_select", pred)}
    tile = ("on_true_tile",)
    return returning("affine_select", select, arguments, dtype_of=tile, from_sbuf=tile)


def range_select(
    *,
    on_true_tile: Any,
    comp_op0: Any,
    comp_op1: Any,
    bound0: Any,
    bound1: Any,
    reduce_cmd: Any = _idle,
    reduce_res: Any = None,
    reduce_op: Any = np.amax,
    range_start: int = 0,
    on_false_value: Any = fp32.min,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """Select by comparing indices with two bounds; see `nkijit.isa.range_select`.

    Args:
        on_true_tile: (P, …) tile of a float type in SBUF or PSUM.
        comp_op0: comparison of an index with `bound0`.
        comp_op1: comparison of an index with `bound1`.
        bound0: (P, 1) float32 tile.
        bound1: (P, 1) float32 tile.
        reduce_cmd: the effect on the accumulators: idle, reset, reduce or reset_reduce.
        reduce_res: (P, 1) tile that receives the accumulators.
        reduce_op: `np.max`.
        range_start: index of the first element of the tile.
        on_false_value: must be the lowest float32, which is the default.
        mask: the block of elements that is computed; indices count from the tile's first element.
        dtype: data type of the result, by default that of `on_true_tile`.

    Source: NKI API reference 2.26, nki.isa.range_select.
    """
    arguments, call = locals(), "nisa.range_select"
    tile = as_tensor(call, "on_true_tile", on_true_tile)
    if tile.ndim < 2:
        tracer_for(call).wrong_argument(
            call, "on_true_tile", "a tile of two dimensions or more", on_true_tile
        )
    steps = (0, *AccessPattern.contiguous(tile.shape[1:]).strides)
    if as_integer(range_start) is None:
        tracer_for(call).wrong_argument(call, "range_start", "an integer", range_start)
    arguments["indices"] = Index(tile.shape, steps, arguments.pop("range_start"))
    return returning(
        "range_select",
        _range_select,
        arguments,
        dtype_of=("on_true_tile",),
        per_partition=("bound0", "bound1", "reduce_res"),
        updated=("reduce_res",),
        box_only=True,
    )


def _range_select(dst: NkiTensor, indices: Index, **rest: Any) -> None:
    expected = AccessPattern.contiguous(indices.shape[1:]).strides
    steps = zip(indices.coefficients[1:], expected, indices.shape[1:], strict=True)
    if any(n > 1 and step != along for step, along, n in steps):
        tracer_for("nisa.range_select").fail(
            MASK_EXPRESSION,
            "nisa.range_select",
            "'mask' leaves indices with gaps",
            "mask whole rows, or flatten the tile to two dimensions",
        )
    isa.range_select(dst, range_start=indices.constant, **rest)


def select_reduce(
    *,
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: Any = _idle,
    reduce_op: Any = np.amax,
    reverse_pred: bool = False,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> None:
    """`dst = on_true` where a predicate holds, else `on_false`; see `nkijit.isa.select_reduce`.

    Args:
        dst: (P, …) tile in SBUF or PSUM that is written.
        predicate: int8, uint8, int16, uint16 or bool_ tile.
        on_true: tile; not in PSUM together with `predicate`.
        on_false: number or (P, 1) tile.
        reduce_res: (P, 1) tile that receives the maximum.
        reduce_cmd: the effect on the accumulators: idle, reduce or reset_reduce.
        reduce_op: `np.max`.
        reverse_pred: take `on_true` where `predicate` is 0.
        mask: the block of elements that is computed.
        dtype: data type of `dst`.

    Source: NKI API reference 2.26, nki.isa.select_reduce.
    """
    writing(
        "select_reduce",
        isa.select_reduce,
        locals(),
        per_partition=("on_false", "reduce_res"),
        updated=("dst", "reduce_res"),
    )


def sequence_bounds(*, segment_ids: Any, dtype: Any = None) -> ClassicTensor:
    """A (1, 2, n) tile of the bounds of segments; see `nkijit.isa.sequence_bounds`.

    Args:
        segment_ids: (1, n) float32 or int32 tile in SBUF.
        dtype: float32 or int32, by default that of `segment_ids`.

    Source: NKI API reference 2.26, nki.isa.sequence_bounds.
    """
    arguments = locals()
    count = prod(as_tensor("nisa.sequence_bounds", "segment_ids", segment_ids).shape[1:])
    return returning(
        "sequence_bounds",
        isa.sequence_bounds,
        arguments,
        dtype_of=("segment_ids",),
        shape=(Axis(0), 2, count),
    )


__all__ = [
    "affine_select",
    "fp32",
    "range_select",
    "select_reduce",
    "sequence_bounds",
    "tensor_copy_predicated",
]
