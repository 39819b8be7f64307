"""The queues of a core: one for each engine, and one for each DMA ring."""

from __future__ import annotations

from enum import IntEnum

from nkijit.dialects.hardware.words import engine


class Queue(IntEnum):
    """The queues of a core: one for each engine, then the rings of its DMA engines.

    The assignment of DMAs to rings is not documented. nkijit has one ring per direction for DMAs
    that the Sync Engine starts, and one ring for each other engine that starts DMAs.
    """

    tensor = 0
    vector = 1
    scalar = 2
    gpsimd = 3
    sync = 4
    dma_load = 5
    """DMAs from HBM to SBUF."""
    dma_store = 6
    """DMAs from SBUF to HBM."""
    dma_copy = 7
    """All other DMAs: within HBM, within SBUF, to other cores and ranks."""
    dma_scalar = 8
    """All DMAs that the Scalar Engine starts."""
    dma_gpsimd = 9
    """All DMAs whose descriptors the GpSimd Engine generates."""

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
