"""Reductions over free dimensions and over partitions."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.nisa.reduce import TensorPartitionReduceOp, TensorReduceOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.tensor import NkiTensor

__all__ = ["tensor_reduce", "tensor_partition_reduce"]


def tensor_reduce(
    dst: NkiTensor,
    op: OperatorLike,
    data: NkiTensor,
    axis: int | Sequence[int],
    negate: bool = False,
    keepdims: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """Reduce the last dimensions of `data` on the Vector Engine.

    Arithmetic runs in float32 and is rounded once; bitvec operators take integer tiles of one
    width and work on bit patterns.

    Args:
        dst: (P, …) tile in SBUF or PSUM with as many elements per partition as `data` has without
            the reduced dimensions.
        op: reduction operator: add, subtract, multiply, maximum, minimum, logical_and,
            logical_or, logical_xor, bitwise_and, bitwise_or or bitwise_xor.
        data: (P, …) tile in SBUF or PSUM.
        axis: the last free dimension, or the last few, up to 4; negative counts from the end.
        negate: multiply the result by -1; arithmetic operators only.
        keepdims: `dst` keeps the reduced dimensions with size 1.
        name: name of the instruction.

    Example:

        nisa.tensor_reduce(total, nl.add, x, axis=1)

    Source: NKI API reference, nki.isa.tensor_reduce.
    """
    return emit(TensorReduceOp, locals())


def tensor_partition_reduce(
    dst: NkiTensor, op: OperatorLike, data: NkiTensor, name: str | None = None
) -> NkiInstruction:
    """Reduce `data` over its partitions on the GpSimd Engine.

    The reference names only operators and operands. nkijit's choices: arithmetic runs in float32
    and is rounded once; `nl.average` is the sum divided by the number of partitions; bitvec
    operators take integer tiles of one width and work on bit patterns.

    Args:
        dst: (1, …) tile in SBUF with as many elements per partition as `data`.
        op: `nl.add`, `nl.average`, `nl.maximum`, `nl.bitwise_or` or `nl.bitwise_and`.
        data: (P, …) tile in SBUF.
        name: name of the instruction.

    Example:

        nisa.tensor_partition_reduce(row, nl.add, x)

    Source: NKI API reference, nki.isa.tensor_partition_reduce.
    """
    return emit(TensorPartitionReduceOp, locals())
