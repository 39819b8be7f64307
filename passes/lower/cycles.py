"""How long each engine is busy with a kernel: the sum of what its instructions cost."""

from __future__ import annotations

from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import engine
from nkijit.dialects.nki import KernelOp


def engine_cycles(kernel: KernelOp) -> dict[engine, float]:
    """Cycles of each engine, bytes for DMA; the body of a loop on the device counts once.

    Neither waiting nor the latency of a single instruction is in it.
    """
    totals: dict[engine, float] = {}
    target = kernel.target
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        queue = engine_of(op, target)
        totals[queue] = totals.get(queue, 0) + op.cycles(target)
    return totals
