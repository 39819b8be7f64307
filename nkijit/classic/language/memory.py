"""Copies between HBM and SBUF, and on chip."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic import assignment
from nkijit.classic.calls import functional, refuse_rest
from nkijit.classic.index import as_mask
from nkijit.classic.tensors import Tensor, Tile, as_tensor
from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.rule_texts.classic import UNSUPPORTED_MEMORY
from nkijit.language.tensors import allocate
from nkijit.language.tiles import is_number
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for


def load(src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> Tensor:
    """Copy a tensor from HBM to a new SBUF tile.

    Args:
        src: tensor in HBM, at most 128 rows.
        mask: which elements are loaded. Where that is no block of the tile, the others are 0.
        dtype: data type of the tile, by default that of `src`.

    Source: NKI API reference 2.26, nki.language.load.
    """
    call = "nl.load"
    refuse_rest(call, kwargs)
    source = as_tensor(call, "src", src)
    if source.buffer.on_chip:
        tracer_for(call).fail(
            UNSUPPORTED_MEMORY, call, f"'src' must be in hbm, it is in {source.buffer.value}"
        )
    region = as_mask(call, mask).region(source.shape)
    wanted = source.dtype if dtype is None else dtype
    if not region.rest:
        return functional(
            call, isa.dma_copy, {"src": source}, dtype=wanted, mask=mask, exact=False, by_dma=True
        )
    result = Tile(allocate(call, source.shape, wanted, MemoryRegion.sbuf, ""))
    isa.memset(result.whole(), 0)
    for box in region.boxes():
        isa.dma_copy(result.part(box), source.part(box))
    return result


def store(dst: Any, value: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Copy a tile, with broadcasting, or a number to a tensor in HBM.

    Args:
        dst: tensor in HBM.
        value: tile in SBUF or PSUM, or a number.
        mask: which elements are stored.

    Source: NKI API reference 2.26, nki.language.store.
    """
    call = "nl.store"
    refuse_rest(call, kwargs)
    target = as_tensor(call, "dst", dst)
    if target.buffer.on_chip:
        tracer_for(call).fail(
            UNSUPPORTED_MEMORY, call, f"'dst' must be in hbm, it is in {target.buffer.value}"
        )
    number = is_number(value) and not isinstance(value, (Tensor, NkiTensor))
    source = None if number else as_tensor(call, "value", value)
    region = as_mask(call, mask).region(target.shape)
    if isinstance(source, Tile) and source.computed is not None and source.shape == target.shape:
        if not region.is_within(source.computed):  # what a mask has left out is undefined: 0
            for box in region.boxes():
                assignment.fill(target.part(box), 0)
        region &= source.computed
    for box in region.boxes():
        part = target.part(box)
        if source is None:
            assignment.fill(part, value)
        else:
            assignment.copy(part, source.part(box.within(source.shape)))


__all__ = ["load", "store"]
