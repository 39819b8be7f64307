"""Transposes by DMA."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls.calls import Axis
from nkijit.classic.isa.bodies import converting, returning
from nkijit.classic.isa.constants import as_member, dge_mode
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.nisa.transpose import DMA_AXES
from nkijit.dialects.rule_texts.shapes import TRANSPOSE_AXES
from nkijit.dialects.spelling import numbered
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def dma_transpose(
    src: Any, *, axes: Any = None, mask: Any = None, dtype: Any = None, **kwargs: Any
) -> ClassicTensor:
    """`src` with its dimensions permuted, in SBUF; see `nkijit.isa.dma_transpose`.

    Args:
        src: tensor in HBM or SBUF with two to four dimensions.
        axes: (1, 0), (2, 1, 0) or (3, 1, 2, 0), the only legal permutation for each number of
            dimensions, and the default.
        mask: the block of `src` that is transposed.
        dtype: data type of the result, by default that of `src`; any other requires a copy.
        kwargs: `dge_mode`, the unit that builds the descriptors.

    Source: NKI API reference 2.26, nki.isa.dma_transpose.
    """
    arguments = locals()
    call = "nisa.dma_transpose"
    mode = kwargs.pop("dge_mode", dge_mode.unknown)
    arguments["dge_mode"] = as_member("dge_mode", mode)
    rank = as_tensor(call, "src", src).ndim
    order = DMA_AXES.get(rank)
    if order is None:
        tracer_for(call).fail(
            TRANSPOSE_AXES,
            call,
            f"'src' has {numbered(rank, 'dimension')}, 2 to 4 can be transposed",
        )
    return returning(
        "dma_transpose",
        _dma_transpose,
        arguments,
        dtype_of=("src",),
        shape=tuple(Axis(d) for d in order),
        by_dma=True,
        box_only=True,
    )


def _dma_transpose(dst: NkiTensor, src: NkiTensor, axes: Any, dge_mode: Any) -> None:
    converting(isa.dma_transpose, dst, src.dtype, src, axes, None, dge_mode)


__all__ = ["dma_transpose"]
