"""Reductions over free dimensions (tensor_reduce) and over partitions."""

from __future__ import annotations

import math

from nkijit.dialects.access import Indirection
from nkijit.dialects.costs.engines import on_gpsimd, streaming
from nkijit.dialects.declare.fields import flag, integers, operator, tile, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP, SBUF, alu_of, is_bitvec, required_tile
from nkijit.dialects.declare.rules.operands import bitvec_on_integers, computable, in_buffer
from nkijit.dialects.declare.rules.shape_helps import variable
from nkijit.dialects.declare.rules.shapes import partitions_match
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.operators import AVERAGE
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operators import NEGATE, REDUCIBLE
from nkijit.dialects.rule_texts.shapes import REDUCE_AXES, REDUCE_SHAPE
from nkijit.dialects.spelling import numbered

MAX_REDUCED_DIMS = 4
"""Largest number of free dimensions that one instruction can reduce."""


def reduced_dims(rank: int, axis: tuple[int, ...]) -> int | None:
    """Return how many dimensions, counted from the last, `axis` reduces; None if it is illegal."""
    dims = sorted(a + rank if a < 0 else a for a in axis)
    count = len(dims)
    legal = 0 < count < rank and dims == list(range(rank - count, rank))
    return count if legal and count <= MAX_REDUCED_DIMS else None


def _reducible(op: NisaOp, target: Target) -> Violation | None:
    alu = alu_of(op, "op")
    if alu is not None and alu.reducible:
        return None
    return Violation(f"nl.{op.value_of('op')} is not a reduction operator")


def wrong_axes(rank: int, axis: tuple[int, ...], tile: str = "t") -> tuple[str, str] | None:
    """Return why the axes of a reduction are illegal, and the help; None when they are legal.

    `tile` is the name of the tile in the help.
    """
    if reduced_dims(rank, axis) is not None:
        return None
    first = max(rank - MAX_REDUCED_DIMS, 1)
    legal = ", ".join(str(list(range(dim, rank))) for dim in range(rank - 1, first - 1, -1))
    wrong = f"axis is {one_line(list(axis))}; legal for this tile are {legal}"
    return wrong, _help_for_axes(rank, axis, tile)


def _help_for_axes(rank: int, axis: tuple[int, ...], tile: str) -> str:
    outside = [a for a in axis if not -rank <= a < rank]
    if outside or not axis:
        return (
            f"{tile} has {numbered(rank, 'dimension')}: write axis={rank - 1}, or -1 for the last"
        )
    dims = sorted({a % rank for a in axis})
    if 0 in dims:
        return (
            f"dim 0 is the partition dimension: add up partitions with nisa.nc_matmul, {tile} as "
            "'moving' and a (P, 1) tile of ones as 'stationary'; for other operators transpose "
            "first with nisa.nc_transpose, and reduce axis 1"
        )
    if len(dims) < len(axis):
        return f"name each axis once: axis={dims if len(dims) > 1 else dims[0]}"
    if len(dims) > MAX_REDUCED_DIMS:
        return f"merge dimensions of {tile} first, with reshape, and reduce axis 1"
    order = (*(dim for dim in range(rank) if dim not in dims), *dims)
    last = list(range(rank - len(dims), rank))
    shown = last if len(last) > 1 else last[0]
    return f"let the reduced dimensions come last: {tile}.permute({order}) with axis={shown}"


def _axes(op: NisaOp, target: Target) -> Violation | None:
    data = required_tile(op, "data")
    wrong = wrong_axes(len(data.shape), op.value_of("axis"), variable(op, "data"))
    return None if wrong is None else Violation(wrong[0], ("data",), wrong[1])


def _dst_shape(op: NisaOp, target: Target) -> Violation | None:
    data, dst = required_tile(op, "data"), required_tile(op, "dst")
    count = reduced_dims(len(data.shape), op.value_of("axis"))
    if count is None:
        return None
    left = data.shape[1:-count]
    expected = math.prod(left)
    if op.value_of("keepdims"):
        shape = (data.shape[0], *left, *(1,) * count)
        if dst.shape == shape:
            return None
        wanted = "x".join(map(str, shape))
        shown = "x".join(map(str, dst.shape))
        return Violation(
            f"with keepdims 'dst' has shape {wanted}, it is {shown}",
            ("dst", "data"),
            f"allocate 'dst' with the shape {shape}",
        )
    if dst.free_size == expected:
        return None
    return Violation(
        f"reducing axes {list(op.value_of('axis'))} leaves {numbered(expected, 'element')} per "
        "partition, "
        f"'dst' has {dst.free_size}",
        ("dst", "data"),
        f"allocate 'dst' with the shape {(data.shape[0], *(left or (1,)))}",
    )


def _negate(op: NisaOp, target: Target) -> Violation | None:
    if op.value_of("negate") and is_bitvec(op, "op"):
        return Violation(f"'negate' is True, but nl.{op.value_of('op')} is a bitvec operator")
    return None


@instruction(
    engines=(engine.vector,),
    rules=(
        Rule(REDUCIBLE, _reducible),
        in_buffer(ON_CHIP, "dst", "data"),
        partitions_match("data", "dst"),
        Rule(REDUCE_AXES, _axes),
        Rule(REDUCE_SHAPE, _dst_shape),
        Rule(NEGATE, _negate),
        computable("dst", "data"),
        bitvec_on_integers(("op",), "data", "dst"),
    ),
    stages=(Stage("TENSOR_REDUCE", ("dst", "data"), streaming("data")),),
    per_partition=True,
)
class TensorReduceOp(NisaOp):
    """`dst = op over the last dimensions of data`, optionally negated."""

    name = "nisa.tensor_reduce"

    dst = written(Indirection.tensor)
    op = operator()
    data = tile(Indirection.tensor)
    axis = integers()
    negate = flag()
    keepdims = flag()


_PARTITION_REDUCTIONS = ("add", AVERAGE, "maximum", "bitwise_or", "bitwise_and")


def _partition_reducible(op: NisaOp, target: Target) -> Violation | None:
    word = op.value_of("op")
    if word in _PARTITION_REDUCTIONS:
        return None
    listed = ", ".join(f"nl.{name}" for name in _PARTITION_REDUCTIONS)
    return Violation(
        f"nl.{word} does not reduce over partitions",
        help=f"use one of {listed}, or transpose and use nisa.tensor_reduce",
    )


def _one_partition(op: NisaOp, target: Target) -> Violation | None:
    data, dst = required_tile(op, "data"), required_tile(op, "dst")
    if (dst.partitions, dst.free_size) == (1, data.free_size):
        return None
    return Violation(
        f"'dst' must have 1 partition of {numbered(data.free_size, 'element')}, it has "
        f"{dst.partitions} of "
        f"{dst.free_size}",
        ("dst", "data"),
        "allocate dst with one partition and the free dimensions of data",
    )


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        Rule(REDUCIBLE, _partition_reducible),
        in_buffer((SBUF,), "dst", "data"),
        Rule(REDUCE_SHAPE, _one_partition),
        computable("dst", "data"),
        bitvec_on_integers(("op",), "data", "dst"),
    ),
    stages=(Stage("TENSOR_PARTITION_REDUCE", ("dst", "data"), on_gpsimd("data")),),
)
class TensorPartitionReduceOp(NisaOp):
    """`dst = op over the partitions of data`."""

    name = "nisa.tensor_partition_reduce"

    dst = written()
    op = operator()
    data = tile()
