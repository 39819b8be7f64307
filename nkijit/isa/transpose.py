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
    are gathered first, on NeuronCore-v3 and newer. The number of rows is a multiple of 16, elements
    have 2 bytes, the last dimension is at most 128, and of four dimensions one of the middle ones
    is 1. The indices are a (16 to 128, 1) or (128, K) uint32 tile in SBUF. Its number of partitions
    is a multiple of 16, and the indices are read column after column.

    Args:
        dst: tile in SBUF, of the permuted shape of `src` and of its dtype.
        src: tensor in HBM or SBUF with two to four dimensions and elements of 2 or 4 bytes.
        axes: the dimension of `src` for each dimension of `dst`: (1, 0), (2, 1, 0) or (3, 1, 2, 0),
            the only legal permutation for each number of dimensions, and the default.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        dge_mode: unknown or hwdge; with indices unknown or swdge. hwdge (NeuronCore-v3 and newer)
            moves 2-byte elements in blocks of 16 rows of at most 128. Dim 0 of `src` is 16. With
            more than two dimensions, dim 0 may also be 1, 2, 4 or 8, and the product of dims 0 and
            -2 is a multiple of 16.
        oob_mode: `skip` leaves out rows with an index out of bounds, where addresses are known only
            at run time.
        name: name of the instruction.

    Example:

        nisa.dma_transpose(transposed, bf16[:, 0:128])

    Source: NKI API reference, nki.isa.dma_transpose.
    """
    return emit(DmaTransposeOp, locals())
