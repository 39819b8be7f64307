"""Scans along the free dimensions."""

from __future__ import annotations

from nkijit.dialects.nisa.scan import TensorTensorScanOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.tensor import NkiTensor

__all__ = ["tensor_tensor_scan"]


def tensor_tensor_scan(
    dst: NkiTensor,
    data0: NkiTensor,
    data1: NkiTensor,
    initial: float | NkiTensor,
    op0: OperatorLike,
    op1: OperatorLike,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """`dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i]` along each partition.

    Runs on the Vector Engine in float32. The next element takes the float32 result, before it is
    rounded to the dtype of `dst`. Several free dimensions count as one.

    Args:
        dst: (P, …) tile in SBUF or PSUM, as many elements per partition as `data0`.
        data0: (P, …) tile in SBUF or PSUM.
        data1: as `data0`; not both in PSUM.
        initial: number or (P, 1) tile: `dst[i - 1]` for the first element.
        op0: arithmetic operator of two operands.
        op1: arithmetic operator of two operands.
        reverse0: compute `dst[i - 1] op0 data0[i]`.
        reverse1: compute `data1[i] op1 …`.
        name: name of the instruction.

    Example:

        nisa.tensor_tensor_scan(out, x, y, 0.0, nl.multiply, nl.add)

    Source: NKI API reference, nki.isa.tensor_tensor_scan.
    """
    return emit(TensorTensorScanOp, locals())
