"""Scans along the free dimensions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors.tensors import ClassicTensor


def tensor_tensor_scan(
    data0: Any,
    data1: Any,
    initial: Any,
    op0: Any,
    op1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    *,
    dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`result[i] = (data0[i] op0 result[i - 1]) op1 data1[i]`; see `nkijit.isa.tensor_tensor_scan`.

    Args:
        data0: (P, …) tile in SBUF or PSUM.
        data1: as `data0`; not both in PSUM.
        initial: number or (P, 1) tile: the previous result for the first element.
        op0: arithmetic operator of two operands.
        op1: arithmetic operator of two operands.
        reverse0: compute `result[i - 1] op0 data0[i]`.
        reverse1: compute `data1[i] op1 …`.
        dtype: data type of the result, by default the type to which both types promote.
        mask: the block of elements that is scanned; the scan begins where the block does.

    Source: NKI API reference 2.26, nki.isa.tensor_tensor_scan.
    """
    return returning(
        "tensor_tensor_scan",
        isa.tensor_tensor_scan,
        locals(),
        dtype_of=("data0", "data1"),
        per_partition=("initial",),
        box_only=True,
    )


__all__ = ["tensor_tensor_scan"]
