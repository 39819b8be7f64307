"""Semantics of data movement."""

from __future__ import annotations

from nkijit.dialects.nisa.movement import DmaComputeOp, DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import Applied, Chain, Copy, Fill
from nkijit.passes.interpret.semantics.registry import semantics


@semantics(DmaCopyOp, TensorCopyOp)
def copy(b: Binding) -> Copy:
    same = b.dtype("src") is b.dtype("dst")
    return Copy(b.read("src", b.tile("dst").shape, raw=same), b.as_stored())


@semantics(DmaComputeOp)
def dma_compute(b: Binding) -> Chain:
    shape = b.tile("dst").shape
    count = len(b.op.operands_named("srcs"))
    first, *others = (b.item("srcs", i).read("srcs", shape) for i in range(count))
    return Chain(first, tuple(Applied("add", source) for source in others), b.as_stored())


@semantics(MemsetOp)
def memset(b: Binding) -> Fill:
    return Fill(b.rounded(b.value("value"), "dst"), b.as_stored())
