"""Reductions."""

from __future__ import annotations

from typing import Any, cast

from nkijit import isa
from nkijit.classic.calls import Axis, functional, refuse_rest
from nkijit.classic.tensors import Tensor, as_tensor


def tensor_reduce(
    op: Any,
    data: Any,
    axis: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    negate: bool = False,
    keepdims: bool = False,
    **kwargs: Any,
) -> Tensor:
    """Reduce the last free dimensions of a tile; see `nkijit.isa.tensor_reduce`.

    Source: NKI API reference 2.26, nki.isa.tensor_reduce.
    """
    call = "nisa.tensor_reduce"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "data", data)
    given = cast("tuple[int, ...]", axis if isinstance(axis, (tuple, list)) else (axis,))
    axes = sorted({a % tile.ndim for a in given})
    shape = [1 if d in axes else Axis(d) for d in range(tile.ndim) if keepdims or d not in axes]
    return functional(
        call,
        isa.tensor_reduce,
        {"op": op, "data": tile, "axis": tuple(axes), "negate": negate, "keepdims": keepdims},
        dtype=tile.dtype if dtype is None else dtype,
        mask=mask,
        shape=shape,
        box_only=True,
    )


__all__ = ["tensor_reduce"]
