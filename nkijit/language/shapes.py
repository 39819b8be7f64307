"""Functions that change the shapes of tiles: expand_dims, broadcast_to."""

from __future__ import annotations

from typing import Any, cast

from nkijit import isa
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.creation import checked_dims
from nkijit.language.tiles import expect_tile, result
from nkijit.tracing.annotations import DTypeLike, Shape
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def expand_dims(x: NkiTensor, axis: int) -> NkiTensor:
    """A view with a new dimension of size 1.

    Args:
        x: a tensor; on chip the new dimension is not the first.
        axis: position of the new dimension in the result; negative counts from its end.

    Example:

        view = nl.expand_dims(x, 1)

    Source: NKI API reference, nki.language.expand_dims.
    """
    call = "nl.expand_dims"
    if not isinstance(cast(Any, x), NkiTensor):
        tracer_for(call).wrong_argument(call, "x", "a tensor", x)
    if type(axis) is not int:
        tracer_for(call).wrong_argument(call, "axis", "an integer", axis)
    return x.expand_dim(axis + x.ndim + 1 if axis < 0 else axis)


def broadcast_to(x: NkiTensor, shape: Shape, dtype: DTypeLike | None = None) -> NkiTensor:
    """The tile repeated to a shape, in a new tile; `x` itself when nothing changes.

    Free dimensions are repeated by one tensor_copy with a step of 0. A single partition is copied
    to others by matmuls with ones, in which -0.0 becomes 0.0; or by DMA through HBM, if the Tensor
    Engine does not multiply the data type or the partition is not 0, 32, 64 or 96.

    Args:
        x: a tile in SBUF or PSUM.
        shape: as many dimensions as `x` has; where the sizes differ, `x` has size 1.
        dtype: data type of the result, by default that of `x`.

    Example:

        wide = nl.broadcast_to(column, (128, 512))

    Source: NKI API reference, nki.language.broadcast_to.
    """
    call = "nl.broadcast_to"
    tile = expect_tile(call, "x", x)
    dims = checked_dims(tracer_for(call), call, shape)
    if len(dims) != tile.ndim or any(
        n not in (1, m) for n, m in zip(tile.shape, dims, strict=True)
    ):
        tracer_for(call).fail(
            ARGUMENT,
            call,
            f"a tile of shape {tile.shape} does not broadcast to {dims}",
            "name as many dimensions, each as it is or repeated from size 1",
        )
    element = dtype_named(call, "dtype", tile.dtype if dtype is None else dtype).name
    if (dims, element) == (tile.shape, tile.dtype):
        return tile
    view = broadcast_view(tile, dims, element)
    if (dims[1:], element) == (tile.shape[1:], view.dtype):
        return view  # repeated over partitions only: a new tile already
    out = result(call, dims, element)
    isa.tensor_copy(out, view)
    return out


__all__ = ["broadcast_to", "expand_dims"]
