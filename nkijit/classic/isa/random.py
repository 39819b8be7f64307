"""Random numbers."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.isa.bodies import converting, returning
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.tracing.tensor import NkiTensor


def dropout(
    data: Any, prob: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """`data` with zeros at random places; see `nkijit.isa.dropout`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        prob: probability of a zero: number from 0 to 1, or (P, 1) tile of a floating-point type.
        mask: which elements are computed.
        dtype: data type of the result, by default that of `data`; any other requires a copy.

    Source: NKI API reference 2.26, nki.isa.dropout.
    """
    return returning("dropout", _dropout, locals(), per_partition=("prob",))


def _dropout(dst: NkiTensor, data: NkiTensor, prob: Any) -> None:
    converting(isa.dropout, dst, data.dtype, data, prob)


__all__ = ["dropout"]
