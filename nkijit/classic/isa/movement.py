"""Data movement."""

from __future__ import annotations

import functools
from typing import Any

from nkijit import isa
from nkijit.classic.indexing.boxes import broadcast
from nkijit.classic.indexing.expressions import as_mask
from nkijit.classic.indexing.masked_regions import masked_region
from nkijit.classic.isa.bodies import returning, writing
from nkijit.classic.isa.constants import as_member, dge_mode, engine, oob_mode
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor, mark_masked
from nkijit.dialects.rule_texts.classic import MASK_EXPRESSION
from nkijit.dialects.rule_texts.operators import DMA_ARGUMENTS
from nkijit.language.creation import checked_dims
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

_unknown = engine.unknown
_error, _unknown_dge = oob_mode.error, dge_mode.unknown


def tensor_copy(
    src: Any, *, mask: Any = None, dtype: Any = None, engine: Any = _unknown, **kwargs: Any
) -> ClassicTensor:
    """A copy of a tile in SBUF; see `nkijit.isa.tensor_copy`.

    Args:
        src: (P, …) tile in SBUF or PSUM.
        mask: which elements are copied.
        dtype: data type of the result, by default that of `src`.
        engine: vector, scalar or gpsimd.

    Source: NKI API reference 2.26, nki.isa.tensor_copy.
    """
    return returning("tensor_copy", isa.tensor_copy, locals(), dtype_of=("src",))


def tensor_copy_dynamic_src(
    src: Any, *, mask: Any = None, dtype: Any = None, engine: Any = _unknown, **kwargs: Any
) -> ClassicTensor:
    """A copy of a part of a tile; a tile of one element contains the start of the part.

    Args:
        src: `t[i_p, offset + i_f]`, where `offset` is an int32 or uint32 tile of one element.
        mask: which elements are copied.
        dtype: data type of the result, by default that of `src`.
        engine: vector, scalar or gpsimd.

    Source: NKI API reference 2.26, nki.isa.tensor_copy_dynamic_src.
    """
    return returning("tensor_copy_dynamic_src", isa.tensor_copy, locals(), dtype_of=("src",))


def tensor_copy_dynamic_dst(
    *,
    dst: Any,
    src: Any,
    mask: Any = None,
    dtype: Any = None,
    engine: Any = _unknown,
    **kwargs: Any,
) -> None:
    """Copy a tile to a part of another tile; arguments as for `tensor_copy_dynamic_src`.

    Source: NKI API reference 2.26, nki.isa.tensor_copy_dynamic_dst.
    """
    writing("tensor_copy_dynamic_dst", isa.tensor_copy, locals())


def memset(
    shape: Any,
    value: Any,
    dtype: Any,
    *,
    mask: Any = None,
    engine: Any = _unknown,
    **kwargs: Any,
) -> ClassicTensor:
    """A tile in SBUF filled with a number; see `nkijit.isa.memset`.

    Args:
        shape: dimensions, partitions first.
        value: the number; a whole number for an integer type.
        dtype: data type of the tile.
        mask: which elements are filled.
        engine: vector or gpsimd.

    Source: NKI API reference 2.26, nki.isa.memset.
    """
    given, call = locals(), "nisa.memset"
    dims = checked_dims(tracer_for(call), call, given.pop("shape"))
    return returning("memset", _memset, given, dtype_of=(), spans=dims)


def _memset(dst: NkiTensor, value: Any, engine: Any) -> None:
    whole = isinstance(value, float) and value.is_integer()
    isa.memset(dst, int(value) if whole and "int" in dst.dtype else value, engine)


def dma_copy(
    *,
    dst: Any,
    src: Any,
    mask: Any = None,
    dst_rmw_op: Any = None,
    oob_mode: Any = _error,
    dge_mode: Any = _unknown_dge,
) -> None:
    """`dst = src` by DMA; see `nkijit.isa.dma_copy`.

    Args:
        dst: tensor in HBM or SBUF.
        src: tensor in HBM or SBUF with as many elements as `dst`.
        mask: which elements of `dst` are written. A mask that is no block takes several DMAs.
        dst_rmw_op: `np.add` adds to the contents of `dst` (`nkijit.isa.dma_compute`); then
            `oob_mode` and `dge_mode` must have their defaults.
        oob_mode: the effect of an index beyond the tensor: error ends the run, skip leaves the
            element out.
        dge_mode: the unit that builds the descriptors.

    Source: NKI API reference 2.26, nki.isa.dma_copy.
    """
    call = "nisa.dma_copy"
    target, source = as_tensor(call, "dst", dst), as_tensor(call, "src", src)
    bounds, descriptors = as_member("oob_mode", oob_mode), as_member("dge_mode", dge_mode)
    emit = functools.partial(isa.dma_copy, oob_mode=bounds, dge_mode=descriptors)
    if dst_rmw_op is not None:
        for name, given, only in (
            ("oob_mode", bounds, _error),
            ("dge_mode", descriptors, as_member("dge_mode", _unknown_dge)),
        ):
            if given is not only:
                tracer_for(call).fail(
                    DMA_ARGUMENTS, call, f"with 'dst_rmw_op' '{name}' must be {only.name}"
                )
        emit = functools.partial(_add_to, dst_rmw_op)
    region = masked_region(call, as_mask(call, mask), target.shape)
    if broadcast(source.shape, target.shape) != target.shape:
        if not region.is_whole(target.shape):
            tracer_for(call).fail(
                MASK_EXPRESSION,
                call,
                f"'mask' is of shape {target.shape}, which 'src' of shape {source.shape} has not",
                "reshape one of the tensors",
            )
        emit(target.whole(), source.whole())
        return
    if region.box is None:
        mark_masked(target)
    for box in region.boxes():
        emit(target.part(box), source.part(box.within(source.shape)))


def _add_to(op: Any, dst: NkiTensor, src: NkiTensor) -> None:
    isa.dma_compute(dst, [dst, src], op)


__all__ = [
    "dma_copy",
    "memset",
    "tensor_copy",
    "tensor_copy_dynamic_dst",
    "tensor_copy_dynamic_src",
]
