"""Transposes by DMA."""

from __future__ import annotations

from nkijit.dialects.hardware.words import dge_mode, oob_mode
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["dma_transpose"]

_dge_mode, _oob_mode = dge_mode, oob_mode


def dma_transpose(
    dst: NkiTensor,
    src: NkiTensor,
    axes: tuple[int, ...] | None = None,
    priority: int | None = None,
    dge_mode: dge_mode = _dge_mode.unknown,
    oob_mode: oob_mode = _oob_mode.error,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = src` with its dimensions permuted, by DMA, bit by bit.

    If a vector of indices addresses `src` (`t.ap(…, vector_offset=…)`, `t.vector_select`), the rows
    are gathered first, on NeuronCore-v3 and newer. The number of rows must be a multiple of 16, and
    elements must have 2 bytes. The last dimension is at most 128; with four dimensions, dim 1 or
    dim 2 must be 1. The indices are a (16 to 128, 1) or (128, K) uint32 tile in SBUF; its number of
    partitions must be a multiple of 16. The indices are read column after column.

    Args:
        dst: tile in SBUF, of the permuted shape of `src` and of its dtype.
        src: tensor in HBM or SBUF with two to four dimensions and elements of 2 or 4 bytes.
        axes: the dimension of `src` for each dimension of `dst`: (1, 0), (2, 1, 0) or (3, 1, 2, 0),
            the only legal permutation for each number of dimensions, and the default.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        dge_mode: unknown or hwdge; with indices unknown or swdge. hwdge (NeuronCore-v3 and newer)
            requires 2-byte elements and at most 128 elements in the last dimension. Dim 0 of a 2-D
            `src` must be 16. With three or four dimensions, dim 0 must be 1, 2, 4, 8 or 16, and dim
            0 times dim -2 a multiple of 16.
        oob_mode: `skip` (only with a vector of indices) leaves out rows with an index out of
            bounds.
        name: name of the instruction.

    Example:

        nisa.dma_transpose(transposed, bf16[:, 0:128])

    Source: NKI API reference, nki.isa.dma_transpose.
    """
    return emit(DmaTransposeOp, locals())
