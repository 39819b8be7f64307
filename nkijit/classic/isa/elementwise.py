"""Element-wise instructions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls import functional, refuse_rest
from nkijit.classic.promotion import promoted
from nkijit.classic.tensors import Tensor
from nkijit.dialects.hardware import engine

_unknown = engine.unknown


def tensor_tensor(
    data1: Any,
    data2: Any,
    op: Any,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: engine = _unknown,
    **kwargs: Any,
) -> Tensor:
    """`data1 op data2`, element by element; see `nkijit.isa.tensor_tensor`.

    Args:
        data1: (P, …) tile in SBUF or PSUM.
        data2: as `data1`; not both in PSUM.
        op: operator of two operands, of nki.language or of NumPy.
        dtype: data type of the result, by default what both types promote to.
        mask: which elements are computed.
        engine: vector or gpsimd.

    Source: NKI API reference 2.26, nki.isa.tensor_tensor.
    """
    call = "nisa.tensor_tensor"
    refuse_rest(call, kwargs)
    return functional(
        call,
        isa.tensor_tensor,
        {"data1": data1, "data2": data2, "op": op, "engine": engine},
        dtype=promoted(data1, data2) if dtype is None else dtype,
        mask=mask,
    )


__all__ = ["tensor_tensor"]
