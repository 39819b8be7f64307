"""Element-wise instructions."""

from __future__ import annotations

from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nisa.elementwise import (
    ReciprocalOp,
    ScalarTensorTensorOp,
    TensorScalarCumulativeOp,
    TensorScalarOp,
    TensorScalarReduceOp,
    TensorTensorOp,
)
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.tensor import NkiTensor

__all__ = [
    "tensor_tensor",
    "tensor_scalar",
    "scalar_tensor_tensor",
    "reciprocal",
    "tensor_scalar_reduce",
    "tensor_scalar_cumulative",
]

_engine, _reduce_cmd = engine, reduce_cmd


def tensor_tensor(
    dst: NkiTensor,
    data1: NkiTensor,
    data2: NkiTensor,
    op: OperatorLike,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = data1 op data2`, element by element, on the Vector or GpSimd Engine.

    Arithmetic runs in float32, except that int32/uint32 tiles outside PSUM run on the GpSimd
    Engine in native integers. Bitvec operators take integer tiles of one width. `nl.power`
    runs on the GpSimd Engine.

    Args:
        dst: (P, …) tile in SBUF or PSUM.
        data1: (P, …) tile with as many elements per partition as `dst`.
        data2: as `data1`; not both in PSUM.
        op: operator of two operands.
        engine: vector or gpsimd.
        name: name of the instruction.

    Example:

        nisa.tensor_tensor(out, x, y, nl.add)

    Source: NKI API reference, nki.isa.tensor_tensor.
    """
    return emit(TensorTensorOp, locals())


def tensor_scalar(
    dst: NkiTensor,
    data: NkiTensor,
    op0: OperatorLike,
    operand0: float | NkiTensor | None,
    reverse0: bool = False,
    op1: OperatorLike | None = None,
    operand1: float | NkiTensor | None = None,
    reverse1: bool = False,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = (data op0 operand0) op1 operand1`, operands broadcast along the free dimensions.

    Arithmetic runs in float32; bitvec operators take integer tiles of one width.

    Args:
        dst: (P, …) tile in SBUF or PSUM, as many elements per partition as `data`.
        data: (P, …) tile in SBUF or PSUM.
        op0: operator; with a unary operator (`nl.abs`, `nl.rsqrt`, …) `operand0` is None or 0.
        operand0: number or (P, 1) tile, float32 for arithmetic operators.
        reverse0: compute `operand0 op0 data`.
        op1: second operator of the same kind, or None.
        operand1: as `operand0`, given with `op1`.
        reverse1: compute `operand1 op1 …`.
        engine: vector, scalar (multiply-add, multiply or add only) or gpsimd (rsqrt only).
        name: name of the instruction.

    Example:

        nisa.tensor_scalar(out, x, nl.subtract, column, op1=nl.multiply, operand1=0.5)

    Source: NKI API reference, nki.isa.tensor_scalar.
    """
    return emit(TensorScalarOp, locals())


def scalar_tensor_tensor(
    dst: NkiTensor,
    data: NkiTensor,
    op0: OperatorLike,
    operand0: float | NkiTensor,
    op1: OperatorLike,
    operand1: NkiTensor,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_cmd: reduce_cmd = _reduce_cmd.reset_reduce,
    reduce_op: OperatorLike | None = None,
    reduce_res: NkiTensor | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = (data op0 operand0) op1 operand1` on the Vector Engine, in float32.

    With `reduce_op` the results are reduced as in `tensor_scalar_reduce`. The reference prints no
    default for `reduce_op`; nkijit reduces nothing without it.

    Args:
        dst: (P, …) tile in SBUF or PSUM, any dtype.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        op0: arithmetic operator of two operands.
        operand0: number or (P, 1) tile, broadcast along the free dimensions.
        op1: arithmetic operator of two operands.
        operand1: tile with as many elements per partition as `data`; not both in PSUM.
        reverse0: compute `operand0 op0 data`.
        reverse1: compute `operand1 op1 …`.
        reduce_cmd: with `reduce_op`: reset_reduce, reduce (continue the accumulators), or idle.
        reduce_op: `nl.add`, `nl.multiply`, `nl.maximum` or `nl.minimum`, reduces the float32
            results over all free dimensions; None does not change the accumulators.
        reduce_res: (P, 1) tile that receives the accumulators, with `reduce_op` only.
        name: name of the instruction.

    Example:

        nisa.scalar_tensor_tensor(out, x, nl.multiply, column, nl.add, y)

    Source: NKI API reference, nki.isa.scalar_tensor_tensor.
    """
    return emit(ScalarTensorTensorOp, locals())


def reciprocal(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    """`dst = 1 / data`, element by element, on the Vector Engine, in float32.

    Args:
        dst: (P, …) tile in SBUF or PSUM, as many elements per partition as `data`.
        data: (P, …) tile in SBUF or PSUM.
        name: name of the instruction.

    Example:

        nisa.reciprocal(out, x)

    Source: NKI API reference, nki.isa.reciprocal.
    """
    return emit(ReciprocalOp, locals())


def tensor_scalar_reduce(
    dst: NkiTensor,
    data: NkiTensor,
    op0: OperatorLike,
    operand0: float | NkiTensor | None,
    reduce_op: OperatorLike,
    reduce_res: NkiTensor | None = None,
    reverse0: bool = False,
    reduce_cmd: reduce_cmd = _reduce_cmd.reset_reduce,
    reduce_init: float | NkiTensor | None = None,
    reduce_res_negate: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = data op0 operand0` on the Vector Engine, in float32, reduced along each partition.

    Args:
        dst: (P, …) tile in SBUF or PSUM, any dtype; as many elements per partition as `data`.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        op0: arithmetic operator; with a unary operator (`nl.abs`, …) `operand0` is None or 0.
        operand0: number or (P, 1) float32 tile.
        reduce_op: `nl.add`, `nl.multiply`, `nl.maximum` or `nl.minimum`, reduces the float32
            results over all free dimensions.
        reduce_res: (P, 1) tile for the result; None leaves the result in the accumulators.
        reverse0: must be False; the instruction does not reverse its operands.
        reduce_cmd: reset_reduce, reduce (continue the accumulators), or load_reduce (start from
            `reduce_init`).
        reduce_init: number or (P, 1) float32 tile, given with load_reduce only.
        reduce_res_negate: write the negated result to `reduce_res`, but not to the accumulators.
        name: name of the instruction.

    Example:

        nisa.tensor_scalar_reduce(out, x, nl.multiply, 2.0, nl.add, total)

    Source: NKI API reference, nki.isa.tensor_scalar_reduce.
    """
    return emit(TensorScalarReduceOp, locals())


def tensor_scalar_cumulative(
    dst: NkiTensor,
    src: NkiTensor,
    op0: OperatorLike,
    op1: OperatorLike,
    imm0: float | NkiTensor,
    imm1: float | NkiTensor | None = None,
    reduce_cmd: reduce_cmd = _reduce_cmd.reset_reduce,
    name: str | None = None,
) -> NkiInstruction:
    """Running reduction of `src op0 imm0` along each partition, on the Vector Engine, in float32.

    For every element `accumulator = (src op0 imm0) op1 accumulator` is computed, and `dst` gets the
    accumulator after each element. `nl.subtract` subtracts the accumulator.

    Args:
        dst: (P, …) tile in SBUF or PSUM, as many elements per partition as `src`; of a float8
            (e4m3, e4m3fn, e5m2), 16-bit float, float32, or integer type of 8 or 16 bits.
        src: tile as `dst`.
        op0: arithmetic operator; for a unary operator, `imm0` is 0.
        op1: `nl.add`, `nl.subtract`, `nl.multiply`, `nl.maximum` or `nl.minimum`.
        imm0: number or (P, 1) float32 tile.
        imm1: number or (P, 1) float32 tile that load_reduce starts from; other commands ignore
            `imm1`, so that a loop may always pass `imm1`.
        reduce_cmd: reset_reduce, reduce (continue the accumulators), or load_reduce.
        name: name of the instruction.

    Example:

        nisa.tensor_scalar_cumulative(out, x, nl.multiply, nl.add, 1.0)

    Source: NKI API reference, nki.isa.tensor_scalar_cumulative.
    """
    return emit(TensorScalarCumulativeOp, locals())
