"""Searches of the Vector and GpSimd Engines."""

from __future__ import annotations

from nkijit.dialects.nisa.search import (
    Max8Op,
    NcFindIndex8Op,
    NcMatchReplace8Op,
    NonzeroWithCountOp,
    TopkOp,
)
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["max8", "nc_find_index8", "nc_match_replace8", "topk", "nonzero_with_count"]


def max8(dst: NkiTensor, src: NkiTensor, name: str | None = None) -> NkiInstruction:
    """`dst` = the 8 largest elements of each partition of `src`, largest first.

    Compares in float32. The reference does not say where NaN ranks. In nkijit it ranks above
    infinity, so that the first result equals a reduction with `nl.maximum`.

    Args:
        dst: (P, 8) tile in SBUF or PSUM.
        src: (P, …) tile of up to 3 dimensions, with 8 to 16384 elements per partition.
        name: name of the instruction.

    Example:

        nisa.max8(largest, x)

    Source: NKI API reference, nki.isa.max8.
    """
    return emit(Max8Op, locals())


def nc_find_index8(
    dst: NkiTensor, data: NkiTensor, vals: NkiTensor, name: str | None = None
) -> NkiInstruction:
    """`dst[p, i]` = the index of the first occurrence of `vals[p, i]` in partition p of `data`.

    Equal `vals` get successive occurrences, the first one in the lowest column. A value that is not
    found gets all ones (0xFFFF or 0xFFFFFFFF). Values are compared in float32 as `nl.equal`
    does: -0.0 is found as 0.0, NaN is never found.

    Args:
        dst: (P, 8) uint16 or uint32 tile in SBUF or PSUM.
        data: (P, …) tile of up to 3 dimensions, with 8 to 16384 elements per partition.
        vals: (P, …) tile of up to 3 dimensions, with 8 elements per partition.
        name: name of the instruction.

    Example:

        nisa.nc_find_index8(places, x, largest)

    Source: NKI API reference, nki.isa.nc_find_index8.
    """
    return emit(NcFindIndex8Op, locals())


def nc_match_replace8(
    dst: NkiTensor,
    data: NkiTensor,
    vals: NkiTensor,
    imm: float,
    dst_idx: NkiTensor | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dst` = `data` with `imm` in the place of the first occurrence of each of the 8 `vals`.

    Equal `vals` match successive occurrences. The index of the first occurrence is in the highest
    column of `dst_idx`, unlike in `nc_find_index8`. Values are compared in float32 as by
    `nl.equal`, with the contents of `data` before the instruction: an `imm` that the instruction
    has written is not matched. The reference does not document `dst_idx` for a value that is not
    found. nkijit writes all ones, as in `nc_find_index8`.

    Args:
        dst: tile in SBUF or PSUM, as many elements per partition as `data`; may be `data`.
        data: (P, …) tile in SBUF or PSUM.
        vals: (P, …) tile with 8 elements per partition.
        imm: the replacement number.
        dst_idx: (P, …) uint16, uint32 or int32 tile with 8 elements per partition, which receives
            the indices.
        name: name of the instruction.

    Example:

        nisa.nc_match_replace8(out, x, largest, -1e30)

    Source: NKI API reference, nki.isa.nc_match_replace8.
    """
    return emit(NcMatchReplace8Op, locals())


def topk(
    val_dst: NkiTensor,
    idx_dst: NkiTensor,
    src: NkiTensor,
    n: int,
    sorted: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """The K largest of the `n` elements in each group of 16 partitions, ascending, with indices.

    K is the free size of `val_dst`. Element i of a group is at partition `i % 16` and column
    `i // 16`, and so is result i. Results fill the first `ceil(K / 16)` columns; later columns do
    not change. The reference says both that partitions are independent and that 16 of them hold one
    sequence; the published kernels read the results from partition to partition, so nkijit ranks
    the elements of a group together. The reference does not rank equal values and NaN. In nkijit
    the lower index of two equal values ranks as the larger, and NaN ranks above infinity.

    Args:
        val_dst: (P, K) bfloat16 tile in SBUF, P a multiple of 16, K at most 32767 and at most `n`.
        idx_dst: (P, K) uint32 tile in SBUF, receives the indices in the group.
        src: (P, F) bfloat16 tile in SBUF with `16 * F >= n`.
        n: elements that each group ranks, 8 to 65535.
        sorted: must be False. The reference then leaves the order of the results open; nkijit
            returns them in ascending order.
        name: name of the instruction.

    Example:

        nisa.topk(bf16[:, 0:8], positions[:, 0:8], weights, 1024, sorted=False)

    Source: NKI API reference, nki.isa.topk.
    """
    return emit(TopkOp, locals())


def nonzero_with_count(
    dst: NkiTensor,
    src: NkiTensor,
    index_offset: int = 0,
    padding_val: int = -1,
    name: str | None = None,
) -> NkiInstruction:
    """Indices of the nonzero elements in every 16th partition, padding, and the number of indices.

    The instruction works on partitions 0, 16, …, 112 of the tiles, the first of each GpSimd core;
    the other partitions of `dst` do not change. -0.0 is zero, NaN is not. NeuronCore-v3 and newer.

    Args:
        dst: (P, …) int32 tile in SBUF with one element per partition more than `src`; the last
            element is the count.
        src: (P, …) float32 or int32 tile in SBUF.
        index_offset: int32 that is added to each index.
        padding_val: int32 that fills the elements after the last index.
        name: name of the instruction.

    Example:

        nisa.nonzero_with_count(counted, x)

    Source: NKI API reference, nki.isa.nonzero_with_count.
    """
    return emit(NonzeroWithCountOp, locals())
