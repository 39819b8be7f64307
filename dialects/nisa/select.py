"""Selection by a predicate, and the bounds of segments.

tensor_copy_predicated, affine_select, range_select, select_reduce, sequence_bounds.
"""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import ReduceCmdAttr, to_float32
from nkijit.dialects.costs.engines import on_gpsimd, streaming, two_inputs
from nkijit.dialects.declare.fields import (
    flag,
    integer,
    integer_or_register,
    number,
    operator,
    opt_number,
    opt_operator,
    opt_written,
    pairs,
    required_integer,
    tile,
    tile_or_scalar,
    updated,
    word,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP, SBUF, required_tile
from nkijit.dialects.declare.rules.operands import (
    computable,
    constant_held,
    dtype_float,
    dtype_in,
    dtype_not,
    in_buffer,
    not_both_in_psum,
    same_dtype,
)
from nkijit.dialects.declare.rules.operators import comparison, reduce_cmd_in, reduce_op_in
from nkijit.dialects.declare.rules.shapes import (
    column_of,
    free_size_match,
    partitions_match,
    pattern_fits,
)
from nkijit.dialects.declare.rules.targets import since
from nkijit.dialects.declare.spec import Accumulators, Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, nc_version, reduce_cmd
from nkijit.dialects.nisa.activation import READ_ACCUMULATORS
from nkijit.dialects.operators import COMPARISONS
from nkijit.dialects.rule_texts.operators import INDEX_RANGE, ON_FALSE_VALUE
from nkijit.dialects.rule_texts.shapes import SEQUENCE_SHAPE
from nkijit.dialects.spelling import numbered


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "src", "predicate"),
        not_both_in_psum("src", "predicate"),
        partitions_match("src", "predicate", "dst"),
        free_size_match("src", "predicate", "dst"),
        # bool_ is a uint8 of 0 or 1, the result of a comparison.
        dtype_in(("uint8", "uint16", "uint32", "bool_"), "predicate"),
        same_dtype("src", "dst"),
        computable("src", "dst", unless_same_dtype=True),
        constant_held("src"),
    ),
    stages=(
        Stage(
            "TENSOR_COPY_PREDICATED",
            ("dst", "src", "predicate"),
            two_inputs("predicate", "src", "predicated_rate"),
        ),
    ),
    per_partition=True,
)
class TensorCopyPredicatedOp(NisaOp):
    """`dst = src` where `predicate` is not 0 (or, reversed, is 0)."""

    name = "nisa.tensor_copy_predicated"

    dst = updated(Indirection.tensor, partial=True)
    src = tile_or_scalar()
    predicate = tile(Indirection.tensor)
    reverse_pred = flag()


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst", "on_true_tile"),
        partitions_match("on_true_tile", "dst"),
        free_size_match("on_true_tile", "dst"),
        pattern_fits("dst"),
        computable("dst", "on_true_tile"),
        comparison("cmp_op", legal=COMPARISONS),
        constant_held("on_false_value"),
    ),
    stages=(Stage("AFFINE_SELECT", ("dst", "on_true_tile", "offset"), on_gpsimd("on_true_tile")),),
)
class AffineSelectOp(NisaOp):
    """`dst = on_true_tile` where an affine value compares with 0, else `on_false_value`."""

    name = "nisa.affine_select"

    dst = written()
    pattern = pairs()
    channel_multiplier = required_integer()
    on_true_tile = tile()
    on_false_value = number()
    cmp_op = opt_operator("equal")
    offset = integer_or_register(0)


FP32_MIN = to_float32(-3.4028235e38)
"""The lowest finite float32."""

MAX_INDEX = 2**24
"""The largest number up to which float32 can represent every integer."""


def _on_false_value(op: NisaOp, target: Target) -> Violation | None:
    value = op.value_of("on_false_value")
    if value == FP32_MIN:
        return None
    return Violation(f"'on_false_value' must be {FP32_MIN:.8g}, it is {value}")


def _indices(op: NisaOp, target: Target) -> Violation | None:
    data, start = required_tile(op, "on_true_tile"), op.value_of("range_start")
    last = start + data.free_size - 1
    if max(abs(start), abs(last)) <= MAX_INDEX:
        return None
    return Violation(
        f"indices run from {start} to {last}, float32 has every integer only up to {MAX_INDEX}",
        ("on_true_tile",),
    )


@instruction(
    engines=(engine.vector,),
    since=nc_version.gen3,
    rules=(
        since(nc_version.gen3),
        in_buffer(ON_CHIP, "dst", "on_true_tile", "bound0", "bound1", "reduce_res"),
        partitions_match("on_true_tile", "dst"),
        free_size_match("on_true_tile", "dst"),
        column_of("bound0", "on_true_tile"),
        column_of("bound1", "on_true_tile"),
        column_of("reduce_res", "on_true_tile"),
        dtype_float("on_true_tile"),
        dtype_in(("float32",), "bound0", "bound1"),
        computable("dst", "reduce_res"),
        comparison(
            "comp_op0", "comp_op1", legal=tuple(op for op in COMPARISONS if op != "not_equal")
        ),
        reduce_op_in("maximum"),
        reduce_cmd_in(
            reduce_cmd.idle, reduce_cmd.reset, reduce_cmd.reduce, reduce_cmd.reset_reduce
        ),
        Rule(INDEX_RANGE, _indices),
        Rule(ON_FALSE_VALUE, _on_false_value),
    ),
    stages=(
        Stage(
            "RANGE_SELECT", ("dst", "on_true_tile", "bound0", "bound1"), streaming("on_true_tile")
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.vector, idle_clobbers=True),
    per_partition=True,
)
class RangeSelectOp(NisaOp):
    """`dst = on_true_tile` where the index is within bounds, else `on_false_value`."""

    name = "nisa.range_select"

    dst = written()
    on_true_tile = tile()
    comp_op0 = operator()
    comp_op1 = operator()
    bound0 = tile()
    bound1 = tile()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.reset_reduce)
    reduce_res = opt_written()
    reduce_op = opt_operator("maximum")
    range_start = integer(0)
    on_false_value = opt_number(FP32_MIN)


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "predicate", "on_true", "on_false", "reduce_res"),
        not_both_in_psum("on_true", "predicate"),
        partitions_match("on_true", "predicate", "dst"),
        free_size_match("on_true", "predicate", "dst"),
        column_of("on_false", "on_true"),
        column_of("reduce_res", "on_true"),
        # bool_ is a uint8 of 0 or 1, the result of a comparison.
        dtype_in(("int8", "uint8", "int16", "uint16", "bool_"), "predicate"),
        dtype_not(("tfloat32", "int32", "uint32"), "on_true"),
        dtype_float("reduce_res"),
        computable("dst", "on_true", "on_false"),
        constant_held("on_false"),
        reduce_op_in("maximum"),
        reduce_cmd_in(reduce_cmd.idle, reduce_cmd.reset_reduce, reduce_cmd.reduce),
    ),
    stages=(
        Stage(
            "SELECT_REDUCE",
            ("dst", "predicate", "on_true", "on_false"),
            two_inputs("on_true", "predicate", "predicated_rate"),
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.vector, idle_clobbers=True),
    per_partition=True,
)
class SelectReduceOp(NisaOp):
    """`dst = on_true` where `predicate` is not 0, else `on_false`; optionally `dst`'s maximum."""

    name = "nisa.select_reduce"

    dst = written()
    predicate = tile()
    on_true = tile()
    on_false = tile_or_scalar()
    reduce_res = opt_written()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.idle)
    reduce_op = opt_operator("maximum")
    reverse_pred = flag()


def _bounds_shape(op: NisaOp, target: Target) -> Violation | None:
    dst, ids = required_tile(op, "dst"), required_tile(op, "segment_ids")
    if ids.partitions != 1:
        return Violation(
            f"'segment_ids' is in {numbered(ids.partitions, 'partition')}", ("segment_ids",)
        )
    if (dst.partitions, dst.free_size) == (1, 2 * ids.free_size):
        return None
    return Violation(
        f"'dst' must be (1, 2, {ids.free_size}), it has {numbered(dst.partitions, 'partition')} "
        "and "
        f"{numbered(dst.free_size, 'element')} per partition",
        ("dst", "segment_ids"),
    )


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst", "segment_ids"),
        Rule(SEQUENCE_SHAPE, _bounds_shape),
        dtype_in(("float32", "int32"), "dst", "segment_ids"),
    ),
    stages=(Stage("SEQUENCE_BOUNDS", ("dst", "segment_ids"), on_gpsimd("segment_ids")),),
)
class SequenceBoundsOp(NisaOp):
    """`dst` = the first index of each element's segment, and the index after its last element."""

    name = "nisa.sequence_bounds"

    dst = written()
    segment_ids = tile()
