"""Selection by a predicate, and the bounds of segments."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.dialects.nisa.select import (
    FP32_MIN,
    AffineSelectOp,
    RangeSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    TensorCopyPredicatedOp,
)
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike, equal, maximum
from nkijit.tracing.tensor import NkiTensor

__all__ = [
    "tensor_copy_predicated",
    "affine_select",
    "range_select",
    "select_reduce",
    "sequence_bounds",
]

_reduce_cmd = reduce_cmd


def tensor_copy_predicated(
    dst: NkiTensor,
    src: float | NkiTensor,
    predicate: NkiTensor,
    reverse_pred: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """Copy `src` to `dst` where `predicate` is not 0, bit by bit, on the Vector Engine.

    Elsewhere `dst` does not change.

    Args:
        dst: (P, …) tile in SBUF or PSUM.
        src: number, converted to the dtype of `dst`, or tile with the dtype of `dst` and as many
            elements per partition as `dst`.
        predicate: uint8, uint16, uint32 or bool_ tile with as many elements per partition as `dst`;
            not in PSUM together with `src`.
        reverse_pred: copy where `predicate` is 0.
        name: name of the instruction.

    Example:

        nisa.tensor_copy_predicated(x, y, mask)

    Source: NKI API reference, nki.isa.tensor_copy_predicated.
    """
    return emit(TensorCopyPredicatedOp, locals())


def affine_select(
    dst: NkiTensor,
    pattern: Sequence[Sequence[int]],
    channel_multiplier: int,
    on_true_tile: NkiTensor,
    on_false_value: float,
    cmp_op: OperatorLike = equal,
    offset: int = 0,
    name: str | None = None,
) -> NkiInstruction:
    """Select by `offset + p * channel_multiplier + Σ index * step cmp_op 0`, on the GpSimd Engine.

    The affine values are the ones of `iota`, in 32-bit integers. Where the comparison holds, `dst`
    gets the element of `on_true_tile` (bit by bit when the dtypes are equal, else through
    float32), elsewhere `on_false_value`.

    Args:
        dst: (P, …) tile in SBUF.
        pattern: one to four [step, count] pairs; their counts' product is the number of elements
            per partition.
        channel_multiplier: int32 multiplied with the partition index p.
        on_true_tile: (P, …) tile in SBUF with as many elements per partition as `dst`.
        on_false_value: number, taken as float32.
        cmp_op: `nl.equal`, `nl.not_equal`, `nl.less`, `nl.less_equal`, `nl.greater` or
            `nl.greater_equal`.
        offset: int32 added to every affine value.
        name: name of the instruction.

    Example:

        nisa.affine_select(out, [[-1, 512]], 1, x, -1e30, nl.greater_equal)

    Source: NKI API reference, nki.isa.affine_select.
    """
    return emit(AffineSelectOp, locals())


def range_select(
    dst: NkiTensor,
    on_true_tile: NkiTensor,
    comp_op0: OperatorLike,
    comp_op1: OperatorLike,
    bound0: NkiTensor,
    bound1: NkiTensor,
    reduce_cmd: reduce_cmd = _reduce_cmd.reset_reduce,
    reduce_res: NkiTensor | None = None,
    reduce_op: OperatorLike = maximum,
    range_start: int = 0,
    on_false_value: float = FP32_MIN,
    name: str | None = None,
) -> NkiInstruction:
    """Select by comparing indices with two bounds on the Vector Engine, and take the maximum.

    NeuronCore-v3 and newer. `dst` gets the element of `on_true_tile` where both `index comp_op0
    bound0` and `index comp_op1 bound1` hold, elsewhere `on_false_value`. The index is
    `range_start` plus the position in the partition. The accumulators take the float32 results
    before they are rounded to `dst`; after `reduce_cmd.idle` they are undefined.

    Args:
        dst: (P, …) tile in SBUF or PSUM, as many elements per partition as `on_true_tile`.
        on_true_tile: (P, …) tile of a float type in SBUF or PSUM.
        comp_op0: `nl.equal`, `nl.less`, `nl.less_equal`, `nl.greater` or `nl.greater_equal`.
        comp_op1: as `comp_op0`.
        bound0: (P, 1) float32 tile.
        bound1: (P, 1) float32 tile.
        reduce_cmd: the effect on the accumulators: idle, reset, reduce or reset_reduce.
        reduce_res: (P, 1) tile for the maximum; None leaves the maximum in the accumulators.
        reduce_op: `nl.maximum`.
        range_start: index of the first element; all indices must be within 2**24.
        on_false_value: must be the lowest float32, which is the default.
        name: name of the instruction.

    Example:

        nisa.range_select(out, x, nl.greater_equal, nl.less, low, high)

    Source: NKI API reference, nki.isa.range_select.
    """
    return emit(RangeSelectOp, locals())


def select_reduce(
    dst: NkiTensor,
    predicate: NkiTensor,
    on_true: NkiTensor,
    on_false: float | NkiTensor,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: reduce_cmd = _reduce_cmd.idle,
    reduce_op: OperatorLike = maximum,
    reverse_pred: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = on_true` where `predicate` is not 0, else `on_false`, on the Vector Engine.

    The accumulators take the float32 results before they are rounded to `dst`; after
    `reduce_cmd.idle` they are undefined. The accumulators are those of `predicate`'s partitions.

    Args:
        dst: (P, …) tile in SBUF or PSUM.
        predicate: int8, uint8, int16, uint16 or bool_ tile with as many elements per partition as
            `dst`.
        on_true: tile of any dtype but tfloat32, int32 and uint32, with as many elements per
            partition as `dst`; not in PSUM together with `predicate`.
        on_false: number or (P, 1) tile.
        reduce_res: (P, 1) tile of a float type for the maximum; None leaves the maximum in the
            accumulators.
        reduce_cmd: the effect on the accumulators: idle, reduce or reset_reduce.
        reduce_op: `nl.maximum`.
        reverse_pred: take `on_true` where `predicate` is 0.
        name: name of the instruction.

    Example:

        nisa.select_reduce(out, mask, x, -1e30)

    Source: NKI API reference, nki.isa.select_reduce.
    """
    return emit(SelectReduceOp, locals())


def sequence_bounds(
    dst: NkiTensor, segment_ids: NkiTensor, name: str | None = None
) -> NkiInstruction:
    """The bounds of the segment that each element belongs to, on the GpSimd Engine.

    A segment is a run of equal ids; it starts at its first index and ends after its last. Where
    the id is 0, which is padding, the start is n and the end is -1.

    Args:
        dst: (1, 2, n) float32 or int32 tile in SBUF: the starts, then the ends.
        segment_ids: (1, n) float32 or int32 tile in SBUF; the ids are integers from 0 on.
        name: name of the instruction.

    Example:

        nisa.sequence_bounds(bounds, segments)

    Source: NKI API reference, nki.isa.sequence_bounds.
    """
    return emit(SequenceBoundsOp, locals())
