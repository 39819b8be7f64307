"""Copies to and from HBM, and to another data type."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.language.buffers import sbuf
from nkijit.language.creation import allocate, ndarray
from nkijit.names import as_dtype
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for


def converted(tile: NkiTensor, dtype: Any) -> NkiTensor:
    """The tile in another dtype: itself when there is nothing to convert."""
    if dtype is None or as_dtype(dtype).name == tile.dtype:
        return tile
    result = ndarray(tile.shape, dtype)
    isa.tensor_copy(result, tile)
    return result


def load(src: Any, dtype: Any = None) -> NkiTensor:
    """Copy an HBM tensor to a new SBUF tile, optionally converting the data type.

    The source's dim 0 becomes the partition dimension, so it is at most `nl.tile_size.pmax`. Of a
    source of one dimension the tile has shape (n, 1).
    Source: NKI API reference, nki.language.load.
    """
    tracer = tracer_for("nl.load")
    if not isinstance(src, NkiTensor):
        tracer.wrong_argument("nl.load", "src", "a tensor", src)
    tile = allocate("nl.load", src.shape, src.dtype if dtype is None else dtype, sbuf, "")
    isa.dma_copy(tile, src)
    return tile


def store(dst: NkiTensor, value: NkiTensor) -> None:
    """Copy an SBUF tile to an HBM tensor. Source: NKI API reference, nki.language.store."""
    isa.dma_copy(dst, value)


__all__ = ["load", "store"]
