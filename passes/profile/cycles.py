"""The busy time of each engine: the sum of its instructions' costs."""

from __future__ import annotations

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.lower.likeness import Likeness


def engine_cycles(kernel: KernelOp) -> dict[engine, float]:
    """Return the busy cycles of each engine, and the bytes for DMA. A device loop counts once.

    Waits and the latency of single instructions are not included.
    """
    totals: dict[engine, float] = {}
    target = kernel.target
    # Engine and cost depend only on types and arguments, so equivalent instructions share them.
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
