"""Copies between HBM and SBUF: load, store, atomic_rmw. Source: NKI API reference 2.26."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit import language as current
from nkijit.classic.calls import assignment
from nkijit.classic.calls.calls import (
    functional,
    in_place,
    raised,
    refuse_rest,
)
from nkijit.classic.indexing.expressions import as_mask
from nkijit.classic.indexing.masked_regions import masked_region
from nkijit.classic.language.tiles import transposed
from nkijit.classic.tensors.tensors import (
    ClassicTensor,
    ClassicTile,
    Selected,
    as_tensor,
    mark_masked,
)
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.rule_texts.classic import UNSUPPORTED_MEMORY
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.creation import allocate
from nkijit.language.tiles import in_sbuf, is_number, temporary
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def _in_hbm(call: str, argument: str, value: Any, help: str) -> ClassicTensor:
    tensor = as_tensor(call, argument, value)
    if tensor.buffer.on_chip:
        tracer_for(call).fail(
            UNSUPPORTED_MEMORY,
            call,
            f"'{argument}' must be in hbm, it is in {tensor.buffer.value}",
            help,
        )
    return tensor


_NO_LOAD = (
    "'src' is on chip already: pass it to functions as it is, or copy it with nisa.tensor_copy"
)
_ASSIGNED = (
    "store to a tensor of nl.ndarray(shape, dtype, buffer=nl.shared_hbm); to write a tile on chip, "
    "assign to it, t[...] = value"
)


def load(src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """Copy a tensor from HBM to a new SBUF tile.

    Args:
        src: tensor in HBM, at most 128 rows.
        mask: which elements are loaded. If the mask does not select a block, all other elements of
            the tile are 0.
        dtype: data type of the tile, by default that of `src`.
    """
    call = "nl.load"
    refuse_rest(call, kwargs)
    source = _in_hbm(call, "src", src, _NO_LOAD)
    region = masked_region(call, as_mask(call, mask), source.shape)
    wanted = source.dtype if dtype is None else dtype
    if not region.rest:
        return functional(
            call, isa.dma_copy, {"src": source}, dtype=wanted, mask=mask, exact=False, by_dma=True
        )
    result = ClassicTile(allocate(call, source.shape, wanted, MemoryRegion.sbuf, ""))
    isa.memset(result.whole(), 0)
    for box in region.boxes():
        isa.dma_copy(result.part(box), source.part(box))
    return result


def load_transpose2d(
    src: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """Copy the transpose of a 2-D tensor from HBM to a new SBUF tile.

    See `nkijit.language.load_transpose2d`. The mask selects a block of `src`.
    """
    call = "nl.load_transpose2d"
    refuse_rest(call, kwargs)
    source = _in_hbm(call, "src", src, _NO_LOAD)
    compute = current.load_transpose2d
    return transposed(call, compute, "src", source, dtype, mask, MemoryRegion.sbuf)


def store(dst: Any, value: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Copy a tile, with broadcasting, or a number to a tensor in HBM.

    Args:
        dst: tensor in HBM.
        value: tile in SBUF or PSUM, or a number.
        mask: which elements are stored.
    """
    call = "nl.store"
    refuse_rest(call, kwargs)
    target = _in_hbm(call, "dst", dst, _exchanged(dst, value) or _ASSIGNED)
    source = None
    if not _is_number(value):
        source = assignment.fitting(target, as_tensor(call, "value", value))
    region = masked_region(call, as_mask(call, mask), target.shape)
    if region.box is None:
        mark_masked(target)
    for box in region.boxes():
        part = target.part(box)
        if source is None:
            assignment.fill(part, value)
        else:
            assignment.copy(part, assignment.part_for(box, target, source))


def _exchanged(dst: Any, value: Any) -> str:
    """Return the help for a store whose value is in HBM; empty for other values."""
    if not isinstance(value, (ClassicTensor, NkiTensor)) or value.buffer.on_chip:
        return ""
    return f"the operands look exchanged: write nl.store({value.name}, {dst.name})"


def _is_number(value: Any) -> bool:
    return is_number(value) and not isinstance(value, (ClassicTensor, NkiTensor))


def atomic_rmw(dst: Any, value: Any, op: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Add `value` to the rows of a tensor in HBM that a tile of indices selects.

    Args:
        dst: tensor in HBM with one index that is a tile, `t[indices, i_f]`.
        value: tile in SBUF or PSUM that broadcasts to the selected elements, or a number.
        op: `np.add`; no other operator is documented.
        mask: which elements are added.

    For repeated indices, see `nkijit.isa.dma_compute`.
    """
    call = "nl.atomic_rmw"
    refuse_rest(call, kwargs)
    target = _in_hbm(call, "dst", dst, _ASSIGNED)
    if not isinstance(target, Selected) or not target.is_indirect:
        tracer_for(call).fail(
            UNSUPPORTED, call, "'dst' has no index that is a tile, the one form that is documented"
        )

    def emit(dst: NkiTensor, value: Any) -> None:
        if isinstance(value, NkiTensor):
            tile = in_sbuf(broadcast_view(raised(call, value, dst.ndim), dst.shape))
        else:
            tile = temporary("value", dst.shape, dst.dtype)
            isa.memset(tile, value)
        isa.dma_compute(dst, [dst, tile], op)

    in_place(call, emit, {"dst": target, "value": value}, mask=mask)


__all__ = ["atomic_rmw", "load", "load_transpose2d", "store"]
