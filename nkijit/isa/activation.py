"""Activation instructions of the Scalar Engine, which the GpSimd Engine runs as well."""

from __future__ import annotations

from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nisa.activation import Activate2Op, ActivationOp, ActivationReduceOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.tensor import NkiTensor

__all__ = ["activation", "activation_reduce", "activate2"]

_engine, _reduce_cmd = engine, reduce_cmd


def activation(
    dst: NkiTensor,
    op: OperatorLike,
    data: NkiTensor,
    bias: float | NkiTensor | None = None,
    scale: float | NkiTensor = 1.0,
    reduce_op: OperatorLike | None = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: reduce_cmd = _reduce_cmd.idle,
    engine: engine = _engine.scalar,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = op(data * scale + bias)` on the Scalar or GpSimd Engine, in float32.

    The Scalar Engine can reduce the results in its accumulators.

    Args:
        dst: (P, …) tile in SBUF or PSUM, any dtype; as many elements per partition as `data`.
        op: activation function, e.g. `nl.exp`.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        bias: number (NeuronCore-v3 and newer) or (P, 1) tile of any dtype but tfloat32.
        scale: number or (P, 1) float32 tile.
        reduce_op: `nl.add`, reduces the float32 results over the free dimensions.
        reduce_res: (P, 1) tile that receives the accumulators, by a separate instruction.
        reduce_cmd: the effect on the accumulators: idle, reset, reduce or reset_reduce.
        engine: scalar, or gpsimd (NeuronCore-v4 and newer; SBUF only, nothing is reduced).
        name: name of the instruction.

    Example:

        nisa.activation(out, nl.exp, x, bias=column, scale=0.5)

    Source: NKI API reference, nki.isa.activation.
    """
    return emit(ActivationOp, locals())


def activation_reduce(
    dst: NkiTensor,
    op: OperatorLike,
    data: NkiTensor,
    reduce_op: OperatorLike,
    reduce_res: NkiTensor | None,
    bias: float | NkiTensor | None = None,
    scale: float | NkiTensor = 1.0,
    name: str | None = None,
) -> NkiInstruction:
    """`activation` with `reduce_cmd.reset_reduce`: `reduce_res` is the sum of the results.

    Args:
        dst: (P, …) tile in SBUF or PSUM, any dtype; as many elements per partition as `data`.
        op: activation function.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        reduce_op: `nl.add`.
        reduce_res: (P, 1) tile, or None to leave the sum in the accumulators.
        bias: number (NeuronCore-v3 and newer) or (P, 1) tile of any dtype but tfloat32.
        scale: number or (P, 1) float32 tile.
        name: name of the instruction.

    Example:

        nisa.activation_reduce(out, nl.exp, x, nl.add, total)

    Source: NKI API reference, nki.isa.activation_reduce.
    """
    return emit(ActivationReduceOp, locals())


def activate2(
    dst: NkiTensor,
    op: OperatorLike,
    data: NkiTensor,
    imm0: float | NkiTensor,
    imm1: float | NkiTensor,
    op0: OperatorLike,
    op1: OperatorLike,
    relu_param: float | NkiTensor = 0.0,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_op: OperatorLike | None = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: reduce_cmd = _reduce_cmd.idle,
    engine: engine = _engine.scalar,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = op((data op0 imm0) op1 imm1)` on the Scalar or GpSimd Engine, in float32.

    NeuronCore-v4 and newer.

    Args:
        dst: (P, …) tile in SBUF or PSUM, any dtype; as many elements per partition as `data`.
        op: activation function.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        imm0: number or (P, 1) tile, the operand of `op0`.
        imm1: number or (P, 1) tile, the operand of `op1`; of imm0's dtype when both are tiles.
        op0: with `op1` one of (multiply, add), (multiply, subtract), (multiply, bypass),
            (add, bypass), (subtract, bypass), (bypass, bypass).
        op1: second operator, in one of the pairs listed for `op0`.
        relu_param: number or (P, 1) tile, the slope of `nl.prelu` for negative inputs.
        reverse0: compute `imm0 op0 data`.
        reverse1: compute `imm1 op1 …`.
        reduce_op: `nl.add`, `nl.maximum`, `nl.minimum`, `nl.abs_max` or `nl.abs_min`.
        reduce_res: (P, 1) tile that receives the accumulators, by a separate instruction.
        reduce_cmd: the effect on the accumulators: idle, reset, reduce or reset_reduce.
        engine: scalar, or gpsimd (NeuronCore-v4 and newer; SBUF only, nothing is reduced).
        name: name of the instruction.

    Example:

        nisa.activate2(out, nl.gelu, x, 2.0, 0.5, op0=nl.multiply, op1=nl.add)

    Source: NKI API reference, nki.isa.activate2.
    """
    return emit(Activate2Op, locals())
