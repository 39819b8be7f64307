"""How long each engine is busy with a kernel: the sum of what its instructions cost."""

from __future__ import annotations

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.lower.likeness import Likeness


def engine_cycles(kernel: KernelOp) -> dict[engine, float]:
    """Cycles of each engine, bytes for DMA; the body of a loop on the device counts once.

    Neither waiting nor the latency of a single instruction is in it.
    """
    totals: dict[engine, float] = {}
    target = kernel.target
    # Engines and costs depend on types and arguments alone.
    likeness = Likeness()
    known: dict[int, tuple[engine, float]] = {}
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        number = likeness.number(op)
        if number not in known:
            known[number] = (engine_of(op, target), op.cycles(target))
        queue, cycles = known[number]
        totals[queue] = totals.get(queue, 0) + cycles
    return totals
