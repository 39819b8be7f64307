"""Searches of the Vector Engine."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls.calls import Axis
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.nisa.search import SEARCHED


def max8(*, src: Any, mask: Any = None, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """A (P, 8) tile of the largest elements of each partition; see `nkijit.isa.max8`.

    Args:
        src: (P, …) tile with 8 to 16384 elements per partition.
        mask: the block of elements that is searched.
        dtype: data type of the result, by default that of `src`.

    Source: NKI API reference 2.26, nki.isa.max8.
    """
    return returning(
        "max8", isa.max8, locals(), dtype_of=("src",), shape=(Axis(0), SEARCHED), box_only=True
    )


def nc_find_index8(
    *, data: Any, vals: Any, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """A (P, 8) tile of the indices of `vals` in `data`; see `nkijit.isa.nc_find_index8`.

    Args:
        data: (P, …) tile with 8 to 16384 elements per partition.
        vals: tile with 8 elements per partition.
        mask: the block of `data` that is searched; indices count from its first element.
        dtype: uint32, the default, or uint16.

    Source: NKI API reference 2.26, nki.isa.nc_find_index8.
    """
    return returning(
        "nc_find_index8",
        isa.nc_find_index8,
        locals(),
        dtype="uint32",
        shape=(Axis(0), SEARCHED),
        per_partition=("vals",),
        box_only=True,
    )


def nc_match_replace8(
    *,
    data: Any,
    vals: Any,
    imm: Any,
    dst_idx: Any = None,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`data` with `imm` in place of the `vals` found; see `nkijit.isa.nc_match_replace8`.

    Args:
        data: (P, …) tile in SBUF or PSUM.
        vals: tile with 8 elements per partition.
        imm: the replacement number.
        dst_idx: tile that receives the indices of the values.
        mask: the block of `data` that is searched and returned; indices count from its first
            element.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.nc_match_replace8.
    """
    return returning(
        "nc_match_replace8",
        isa.nc_match_replace8,
        locals(),
        per_partition=("vals", "dst_idx"),
        updated=("dst_idx",),
        box_only=True,
    )


__all__ = ["max8", "nc_find_index8", "nc_match_replace8"]
