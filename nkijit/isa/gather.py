"""Moves between partitions and by index."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.nisa.gather import LocalGatherOp, NcNGatherOp, NcStreamShuffleOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["nc_stream_shuffle", "local_gather", "nc_n_gather"]


def nc_stream_shuffle(
    dst: NkiTensor, src: NkiTensor, shuffle_mask: Sequence[int], name: str | None = None
) -> NkiInstruction:
    """`dst[q + i] = src[q + shuffle_mask[i]]` in each quadrant of 32 partitions, bit by bit.

    Args:
        dst: tile in SBUF or PSUM with the dtype of `src` and as many elements per partition as
            `src`; it may be `src`.
        src: tile in SBUF or PSUM; it may have fewer partitions than `dst`, then `shuffle_mask`
            names only partitions of `src`. Tiles begin at partition 0. Tiles of up to 64 partitions
            may also begin at 64, and tiles of up to 32 partitions at any multiple of 32.
        shuffle_mask: 32 integers, 0 to 31, or 255 for a partition of `dst` that does not change.
        name: name of the instruction.

    Example:

        nisa.nc_stream_shuffle(out, x, [0] * 32)

    Source: NKI API reference, nki.isa.nc_stream_shuffle.
    """
    return emit(NcStreamShuffleOp, locals())


def local_gather(
    dst: NkiTensor,
    src_buffer: NkiTensor,
    index: NkiTensor,
    num_elem_per_idx: int = 1,
    num_valid_indices: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """Gather along the free dimensions, by indices that 16 partitions share.

    Each GpSimd core flattens the indices of its 16 partitions, partition first. For each index, the
    core copies `num_elem_per_idx` elements, from that index on, in all of its partitions, bit by
    bit. An index counts elements in a partition; an index beyond the partition ends the
    interpretation.

    Args:
        dst: tile in SBUF of the dtype of `src_buffer`, with
            `num_valid_indices * num_elem_per_idx` elements per partition.
        src_buffer: (P, …) tile in SBUF, P a multiple of 16.
        index: (P, …) uint16 tile in SBUF.
        num_elem_per_idx: neighbouring elements per index: 1, 2, 4, 8, 16 or 32.
        num_valid_indices: indices per core, at most 4096; None means all.
        name: name of the instruction.

    Example:

        nisa.local_gather(gathered, x, short_indices)

    Source: NKI API reference, nki.isa.local_gather.
    """
    return emit(LocalGatherOp, locals())


def nc_n_gather(
    dst: NkiTensor, data: NkiTensor, indices: NkiTensor, name: str | None = None
) -> NkiInstruction:
    """`dst[p, i] = data[p, indices[p, i]]` on the GpSimd Engine, bit by bit.

    Free dimensions count as flattened. An index beyond the partition ends the interpretation.

    Args:
        dst: tile in SBUF of the dtype of `data`, as many elements per partition as `indices`.
        data: (P, …) tile in SBUF, any dtype.
        indices: (P, …) uint32 tile in SBUF.
        name: name of the instruction.

    Example:

        nisa.nc_n_gather(out, x, positions)

    Source: NKI API reference, nki.isa.nc_n_gather.
    """
    return emit(NcNGatherOp, locals())
