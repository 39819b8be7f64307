"""Copies to and from HBM, and to another data type."""

from __future__ import annotations

from typing import Any, cast

from nkijit import isa
from nkijit.language.buffers import sbuf
from nkijit.language.creation import allocate
from nkijit.tracing.annotations import DTypeLike
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def converted(call: str, tile: NkiTensor, dtype: DTypeLike | None) -> NkiTensor:
    """Return the tile, converted to another dtype; the tile itself if it has this dtype."""
    if dtype is None or dtype_named(call, "dtype", dtype).name == tile.dtype:
        return tile
    result = allocate(call, tile.shape, dtype, sbuf, "")
    isa.tensor_copy(result, tile)
    return result


def load(src: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Copy an HBM tensor to a new SBUF tile, optionally converting the data type.

    Example:

        tile = nl.load(hbm[0:128])

    The source's dim 0 becomes the partition dimension, so dim 0 is at most `nl.tile_size.pmax`. A
    1-D source gives a tile of shape (n, 1).
    Source: NKI API reference, nki.language.load.
    """
    tracer = tracer_for("nl.load")
    if not isinstance(cast(Any, src), NkiTensor):
        tracer.wrong_argument("nl.load", "src", "a tensor", src)
    tile = allocate("nl.load", src.shape, src.dtype if dtype is None else dtype, sbuf, "")
    isa.dma_copy(tile, src)
    return tile


def store(dst: NkiTensor, value: NkiTensor) -> None:
    """Copy an SBUF tile to an HBM tensor.

    Example:

        nl.store(hbm[0:128], x)

    Source: NKI API reference, nki.language.store.
    """
    isa.dma_copy(dst, value)


__all__ = ["load", "store"]
