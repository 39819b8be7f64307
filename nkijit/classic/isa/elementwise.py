"""Element-wise instructions, also those that accumulate their results along a partition."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.isa.bodies import returning, writing
from nkijit.classic.isa.constants import as_member, engine, reduce_cmd
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.declare.kinds import operator_word
from nkijit.dialects.operators import OPERATORS, AluKind
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.tiles import temporary
from nkijit.tracing.tensor import NkiTensor

_unknown, _reset_reduce = engine.unknown, reduce_cmd.reset_reduce


def tensor_tensor(
    data1: Any,
    data2: Any,
    op: Any,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: Any = _unknown,
    **kwargs: Any,
) -> ClassicTensor:
    """`data1 op data2`, element by element; see `nkijit.isa.tensor_tensor`.

    Args:
        data1: (P, …) tile in SBUF or PSUM.
        data2: tile with as many elements per partition as `data1`, or a tile that broadcasts to the
            shape of `data1`; not both in PSUM.
        op: operator of two operands, of nki.language or of NumPy.
        dtype: data type of the result, by default the type to which both types promote.
        mask: which elements are computed.
        engine: vector or gpsimd.

    Source: NKI API reference 2.26, nki.isa.tensor_tensor.
    """
    return returning("tensor_tensor", _tensor_tensor, locals(), dtype_of=("data1", "data2"))


def _tensor_tensor(
    dst: NkiTensor, data1: NkiTensor, data2: NkiTensor, op: Any, engine: Any
) -> None:
    isa.tensor_tensor(dst, _spread(data1, dst), _spread(data2, dst), op, engine=engine)


def _spread(tile: NkiTensor, dst: NkiTensor) -> NkiTensor:
    """Return a tile in the shape of the result, with elements repeated by a stride of 0."""
    fits = tile.size == dst.size or tile.ndim != dst.ndim or tile.shape[0] != dst.shape[0]
    return tile if fits else broadcast_view(tile, dst.shape)


def tensor_scalar(
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: Any = _unknown,
    **kwargs: Any,
) -> ClassicTensor:
    """`(data op0 operand0) op1 operand1`; see `nkijit.isa.tensor_scalar`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        op0: operator.
        operand0: number or (P, 1) tile; for an arithmetic operator it is converted to float32.
        reverse0: compute `operand0 op0 data`.
        op1: second operator of the same kind, or None.
        operand1: as `operand0`, given with `op1`.
        reverse1: compute `operand1 op1 …`.
        dtype: data type of the result, by default that of `data`.
        mask: which elements are computed.
        engine: vector, scalar (multiply-add, multiply or add only) or gpsimd (rsqrt only).

    Source: NKI API reference 2.26, nki.isa.tensor_scalar.
    """
    return returning(
        "tensor_scalar", _tensor_scalar, locals(), per_partition=("operand0", "operand1")
    )


def _tensor_scalar(
    dst: NkiTensor, op0: Any, operand0: Any, op1: Any, operand1: Any, **rest: Any
) -> None:
    isa.tensor_scalar(
        dst,
        op0=op0,
        operand0=_vector_of(op0, operand0),
        op1=op1,
        operand1=_vector_of(op1, operand1),
        **rest,
    )


def _vector_of(op: Any, operand: Any) -> Any:
    """Return the operand of an operator; arithmetic operators get vectors converted to float32."""
    entry = OPERATORS.get(operator_word(op) or "")
    arithmetic = entry is None or entry.alu is None or entry.alu.kind is AluKind.arithmetic
    if not isinstance(operand, NkiTensor) or not arithmetic or operand.dtype == "float32":
        return operand
    if not operand.buffer.on_chip:
        return operand
    converted = temporary(f"{operand.name}_float32", operand.shape)
    isa.tensor_copy(converted, operand)
    return converted


def scalar_tensor_tensor(
    *,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`(data op0 operand0) op1 operand1`; see `nkijit.isa.scalar_tensor_tensor`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        op0: arithmetic operator of two operands.
        operand0: number or (P, 1) tile.
        op1: arithmetic operator of two operands.
        operand1: tile with as many elements per partition as `data`; not both in PSUM.
        reverse0: compute `operand0 op0 data`.
        reverse1: compute `operand1 op1 …`.
        dtype: data type of the result, by default that of `data`.
        mask: which elements are computed.

    Source: NKI API reference 2.26, nki.isa.scalar_tensor_tensor.
    """
    return returning(
        "scalar_tensor_tensor", isa.scalar_tensor_tensor, locals(), per_partition=("operand0",)
    )


def reciprocal(data: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any) -> ClassicTensor:
    """`1 / data`, element by element; see `nkijit.isa.reciprocal`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        dtype: data type of the result, by default that of `data`.
        mask: which elements are computed.
        kwargs: `engine`, a parameter of version 2.21; it must be the Vector Engine.

    Source: NKI API reference 2.26 and 2.21, nki.isa.reciprocal.
    """
    if as_member("engine", kwargs.get("engine")) in (engine.vector, engine.unknown):
        kwargs.pop("engine")
    return returning("reciprocal", isa.reciprocal, locals())


def tensor_scalar_reduce(
    *,
    data: Any,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: Any,
    reverse0: bool = False,
    dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`data op0 operand0`, and its reduction; see `nkijit.isa.tensor_scalar_reduce`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        op0: arithmetic operator.
        operand0: number or (P, 1) tile.
        reduce_op: `nl.add`, `nl.multiply`, `nl.max` or `nl.min`. The reference also names
            `nl.subtract` without a description of its result; it is refused.
        reduce_res: (P, 1) tile that receives the reduction over all free dimensions.
        reverse0: must be False; the instruction does not reverse its operands.
        dtype: data type of the result, by default that of `data`.
        mask: the block of elements that is computed and reduced.

    Source: NKI API reference 2.26, nki.isa.tensor_scalar_reduce.
    """
    return returning(
        "tensor_scalar_reduce",
        _tensor_scalar_reduce,
        locals(),
        per_partition=("operand0", "reduce_res"),
        updated=("reduce_res",),
        box_only=True,
    )


def _tensor_scalar_reduce(dst: NkiTensor, op0: Any, operand0: Any, **rest: Any) -> None:
    isa.tensor_scalar_reduce(dst, op0=op0, operand0=_vector_of(op0, operand0), **rest)


def tensor_scalar_cumulative(
    *,
    src: Any,
    dst: Any,
    op0: Any,
    op1: Any,
    imm0: Any,
    imm1: Any = None,
    reduce_cmd: Any = _reset_reduce,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> None:
    """A running reduction into `dst`; see `nkijit.isa.tensor_scalar_cumulative`.

    Args:
        src: (P, …) tile in SBUF or PSUM.
        dst: tile that is written, with as many elements per partition as `src`.
        op0: arithmetic operator.
        op1: the reduction's operator.
        imm0: number or (P, 1) tile.
        imm1: number or (P, 1) tile that load_reduce starts from.
        reduce_cmd: reset_reduce, reduce or load_reduce.
        mask: the block of elements that is computed.
        dtype: data type of `dst`.

    Source: examples of NKI 2.26, tensor_scalar_cumulative; the API reference of NKI 2.26 does not
    list this instruction.
    """
    writing(
        "tensor_scalar_cumulative",
        isa.tensor_scalar_cumulative,
        locals(),
        per_partition=("imm0", "imm1"),
    )


__all__ = [
    "reciprocal",
    "scalar_tensor_tensor",
    "tensor_scalar",
    "tensor_scalar_cumulative",
    "tensor_scalar_reduce",
    "tensor_tensor",
]
