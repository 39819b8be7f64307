"""Moves between partitions and by index."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from nkijit import isa
from nkijit.classic.calls.calls import Axis, readable, refuse_rest
from nkijit.classic.indexing.boxes import TileBox
from nkijit.classic.indexing.expressions import as_mask
from nkijit.classic.indexing.masked_regions import MaskedRegion, masked_region
from nkijit.classic.isa.bodies import refuse_dtype, returning
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.hardware.targets import (
    PARTITIONS_PER_GPSIMD_CORE,
    PARTITIONS_PER_QUADRANT,
    gpsimd_core_elements,
)
from nkijit.dialects.python_values import as_index
from nkijit.dialects.rule_texts.classic import MASK_EXPRESSION
from nkijit.tracing.checks import sequence
from nkijit.tracing.tracer import tracer_for


def nc_stream_shuffle(
    src: Any,
    dst: Any,
    shuffle_mask: Sequence[Any],
    *,
    dtype: Any = None,
    mask: Any = None,
    **kwargs: Any,
) -> None:
    """Move partitions inside of quadrants of 32; see `nkijit.isa.nc_stream_shuffle`.

    Args:
        src: tile in SBUF or PSUM; it may have fewer partitions than `dst`, or be `dst`.
        dst: tile that is written, with as many elements per partition as `src`.
        shuffle_mask: 32 integers, one per partition of each quadrant of `dst`: the source partition
            in the quadrant, or 255 for no change.
        dtype: data type of `dst`.
        mask: the block of `dst` that is written; it begins at a quadrant.

    Source: NKI API reference 2.26, nki.isa.nc_stream_shuffle.
    """
    call = "nisa.nc_stream_shuffle"
    refuse_rest(call, kwargs)
    lanes = sequence(call, "shuffle_mask", shuffle_mask, "a list of integers")
    refuse_dtype(call, dst, dtype)
    source, target = as_tensor(call, "src", src), as_tensor(call, "dst", dst)
    region = masked_region(call, as_mask(call, mask), target.shape)
    if region.box is None:
        return
    source_box = TileBox.whole(source.shape)
    if region.rest or not region.box.is_whole(target.shape):
        source_box = _source_box(call, region, source)
    isa.nc_stream_shuffle(target.part(region.box), readable(source.part(source_box)), lanes)


def _source_box(call: str, region: MaskedRegion, source: ClassicTensor) -> TileBox:
    """Return the block of `source` in the quadrants of `dst` that a masked shuffle writes."""
    assert region.box is not None
    quadrant = PARTITIONS_PER_QUADRANT
    start, *firsts = region.box.starts
    count, *sizes = region.box.sizes
    rows = min(source.shape[0], -(-(start + count) // quadrant) * quadrant) - start
    if region.rest or start % quadrant or rows < 1 or source.ndim != len(region.box.starts):
        tracer_for(call).fail(
            MASK_EXPRESSION,
            call,
            "'mask' leaves no block of 'dst' that begins at a quadrant",
            f"leave partitions as they are with 255 in 'shuffle_mask', {quadrant} of which repeat",
        )
    return TileBox((start, *firsts), (rows, *sizes))


def local_gather(
    src_buffer: Any,
    index: Any,
    num_elem_per_idx: int = 1,
    num_valid_indices: int | None = None,
    *,
    mask: Any = None,
) -> ClassicTensor:
    """Gather along the free dimensions, by indices that 16 partitions share.

    See `nkijit.isa.local_gather`. Without `num_valid_indices`, the result has shape (P, …, 16,
    `num_elem_per_idx`) with the free dimensions of `index`, else (P, `num_valid_indices`,
    `num_elem_per_idx`).

    Args:
        src_buffer: (P, …) tile in SBUF, P a multiple of 16.
        index: (P, …) uint16 tile in SBUF.
        num_elem_per_idx: neighbouring elements per index: 1, 2, 4, 8, 16 or 32.
        num_valid_indices: indices per core; None means all.
        mask: the block of `index` that is used.

    Source: NKI API reference 2.26, nki.isa.local_gather, and its example for the shape.
    """
    arguments = locals()
    indices = as_tensor("nisa.local_gather", "index", index)
    available = gpsimd_core_elements(prod(indices.shape[1:]))
    shape: list[int] = [Axis(0)]
    if num_valid_indices is None or as_index(num_valid_indices) == available:
        arguments["num_valid_indices"] = None
        shape += [*(Axis(d) for d in range(1, indices.ndim)), PARTITIONS_PER_GPSIMD_CORE]
    else:
        shape.append(num_valid_indices)
    return returning(
        "local_gather",
        isa.local_gather,
        arguments,
        dtype_of=("src_buffer",),
        shape=(*shape, num_elem_per_idx),
        per_partition=("src_buffer",),
        box_only=True,
    )


__all__ = ["local_gather", "nc_stream_shuffle"]
