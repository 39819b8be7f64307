"""The DMA engines of a core, and the times at which these engines serve transfers."""

from __future__ import annotations

from copy import copy
from typing import Generic, NamedTuple, TypeVar

from nkijit.dialects.declare.cost import Transfer
from nkijit.dialects.hardware.targets import Target

Key = TypeVar("Key")


class Served(NamedTuple, Generic[Key]):
    """The times at which a transfer is served, in ns."""

    begin: float
    """The time at which the last of the transfer's engines accepts the transfer."""
    end: float
    """The time at which all bytes of the transfer have arrived."""
    cause: Key | None
    """The key of the transfer that caused a delay; None if this transfer did not wait."""


class DmaEngines(Generic[Key]):
    """The DMA engines of a core. `Key` is the type of the keys of transfers."""

    def __init__(self, target: Target):
        dma = target.timing.dma
        self._free = [0.0] * dma.engines
        self._last: list[Key | None] = [None] * dma.engines
        self._own_free = 0.0
        """The time in ns at which the GpSimd Engine's own DMA engine is free."""
        self._own_last: Key | None = None
        self._hbm_free = 0.0
        self._hbm_bytes_per_ns = dma.hbm_bytes_per_ns

    def fork(self) -> DmaEngines[Key]:
        """Return a copy of the engines with the same state."""
        other = copy(self)
        other._free, other._last = list(self._free), list(self._last)
        return other

    @property
    def busy_until(self) -> float:
        """The time in ns at which all engines would end if their work were distributed evenly."""
        return sum(self._free) / len(self._free)

    def keep_busy(self, time: float) -> None:
        """Occupy all engines until `time`, in ns."""
        self._free = [max(free, time) for free in self._free]

    def serve(self, arrival: float, transfer: Transfer, hbm_bytes: int, key: Key) -> Served[Key]:
        """Assign a transfer to engines; returns the times at which they serve the transfer."""
        cause: Key | None = None
        if transfer.engines == 0:
            if self._own_free > arrival:
                cause = self._own_last
            first = latest = max(arrival, self._own_free)
            done = latest + transfer.engine_ns
            self._own_free, self._own_last = done, key
        else:
            first, latest, done, cause = self._engines(arrival, transfer, key)
        end = first + transfer.payload_ns
        if latest > arrival:
            end = max(end, done)
        if hbm_bytes:
            self._hbm_free = max(first, self._hbm_free) + hbm_bytes / self._hbm_bytes_per_ns
            end = max(end, self._hbm_free)
        return Served(latest, end, cause)

    def _engines(
        self, arrival: float, transfer: Transfer, key: Key
    ) -> tuple[float, float, float, Key | None]:
        """Serve a transfer with the engines that are free first.

        Returns: Four values: the times at which the first and the last engine of the transfer
            accept it, the time at which all engines are done, and the key of the transfer that
            delayed the last engine (None without a delay).
        """
        free, busy = self._free, transfer.engine_ns
        if transfer.fullest >= len(free):
            first, latest = min(free), max(free)
            cause = self._last[free.index(latest)]
            self._free = [(f if f > arrival else arrival) + busy for f in free]
            self._last = [key] * len(free)
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
                self._last[engine] = key
        if latest <= arrival:
            return max(arrival, first), arrival, done, None
        return max(arrival, first), latest, done, cause
