"""The DMA engines of a core: when each serves which transfer."""

from __future__ import annotations

from copy import copy
from typing import Generic, NamedTuple, TypeVar

from nkijit.dialects.declare.cost import Transfer
from nkijit.dialects.hardware.targets import Target

What = TypeVar("What")


class Served(NamedTuple, Generic[What]):
    """When a transfer is served, in ns."""

    begin: float
    """When the last of its engines takes it up."""
    end: float
    """When its bytes are there."""
    cause: What | None
    """The transfer that it had to wait for, if there is one."""


class DmaEngines(Generic[What]):
    """The DMA engines of a core. `What` is whatever transfers are called by."""

    def __init__(self, target: Target):
        dma = target.timing.dma
        self._free = [0.0] * dma.engines
        self._last: list[What | None] = [None] * dma.engines
        self._own_free = 0.0
        """When the DMA engine of the GpSimd Engine is free."""
        self._own_last: What | None = None
        self._hbm_free = 0.0
        self._hbm_bytes_per_ns = dma.hbm_bytes_per_ns

    def fork(self) -> DmaEngines[What]:
        """Engines that are as busy as these."""
        made = copy(self)
        made._free, made._last = list(self._free), list(self._last)
        return made

    @property
    def busy_until(self) -> float:
        """When the engines have done what they have to do, if it were the same for each."""
        return sum(self._free) / len(self._free)

    def keep_busy(self, time: float) -> None:
        """Let no engine be free before a time."""
        self._free = [max(free, time) for free in self._free]

    def serve(self, arrival: float, transfer: Transfer, hbm_bytes: int, what: What) -> Served[What]:
        """Give a transfer its engines."""
        cause: What | None = None
        if transfer.engines == 0:
            if self._own_free > arrival:
                cause = self._own_last
            first = latest = max(arrival, self._own_free)
            done = latest + transfer.engine_ns
            self._own_free, self._own_last = done, what
        else:
            first, latest, done, cause = self._engines(arrival, transfer, what)
        end = first + transfer.payload_ns
        if latest > arrival:
            end = max(end, done)
        if hbm_bytes:
            self._hbm_free = max(first, self._hbm_free) + hbm_bytes / self._hbm_bytes_per_ns
            end = max(end, self._hbm_free)
        return Served(latest, end, cause)

    def _engines(
        self, arrival: float, transfer: Transfer, what: What
    ) -> tuple[float, float, float, What | None]:
        """When the first and the last of its engines take a transfer up, when all are done, and
        which transfer the last one had before, if it had to wait.

        The engines that are free first take most of it.
        """
        free, busy = self._free, transfer.engine_ns
        if transfer.fullest >= len(free):
            first, latest = min(free), max(free)
            cause = self._last[free.index(latest)]
            self._free = [(f if f > arrival else arrival) + busy for f in free]
            self._last = [what] * len(free)
            done = max(self._free)
        else:
            chosen = sorted(range(len(free)), key=free.__getitem__)[: transfer.engines]
            first, latest = free[chosen[0]], free[chosen[-1]]
            cause = self._last[chosen[-1]]
            done = 0.0
            for place, engine in enumerate(chosen):
                time = busy if place < transfer.fullest else transfer.other_ns
                free[engine] = max(arrival, free[engine]) + time
                done = max(done, free[engine])
                self._last[engine] = what
        if latest <= arrival:
            return max(arrival, first), arrival, done, None
        return max(arrival, first), latest, done, cause
