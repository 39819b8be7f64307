"""Semantics of transposes by DMA."""

from __future__ import annotations

from nkijit.dialects.nisa.transpose import DMA_AXES, DmaTransposeOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import Transpose
from nkijit.passes.interpret.semantics.registry import semantics


@semantics(DmaTransposeOp)
def dma_transpose(b: Binding) -> Transpose:
    shape = b.tile("src").shape
    source, into = b.read("src", shape, raw=True), b.as_stored()
    return Transpose(source, DMA_AXES[len(shape)], into, b.valid_rows("src"))
