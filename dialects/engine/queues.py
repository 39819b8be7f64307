"""The queues of a core, in which its engines and DMA rings run instructions."""

from __future__ import annotations

from enum import IntEnum

from nkijit.dialects.hardware.words import engine


class Queue(IntEnum):
    """The queues of a core: one for each engine, then the rings of its DMA engines.

    Which ring takes which DMA is not documented: here one for each direction of what the Sync
    Engine starts, and one for each of the other engines that start DMAs.
    """

    tensor = 0
    vector = 1
    scalar = 2
    gpsimd = 3
    sync = 4
    dma_load = 5
    """HBM to SBUF."""
    dma_store = 6
    """SBUF to HBM."""
    dma_copy = 7
    """All others: inside HBM, inside SBUF, to other cores and ranks."""
    dma_scalar = 8
    """What the Scalar Engine starts."""
    dma_gpsimd = 9
    """What the GpSimd Engine describes and starts."""

    @property
    def is_ring(self) -> bool:
        """True for a ring of the DMA engines, False for the queue of an engine."""
        return self >= Queue.dma_load

    @staticmethod
    def of_engine(runs_on: engine) -> Queue:
        """The queue of an engine."""
        return _OF_ENGINE[runs_on]


_OF_ENGINE = {member: Queue[member.name] for member in engine if member.name in Queue.__members__}
QUEUES = tuple(Queue)
