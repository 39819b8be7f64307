"""The DMA engines of a core while it is simulated: when each serves which transfer."""

from __future__ import annotations

from nkijit.dialects.declare.cost import Transfer
from nkijit.passes.profile.timeline import Event, Reason


class DmaEngines:
    """The DMA engines of a core."""

    def __init__(self, engines: int, hbm_bytes_per_ns: float):
        self._free = [0.0] * engines
        self._last: list[Event | None] = [None] * engines
        self._own_free = 0.0
        """When the DMA engine of the GpSimd Engine is free."""
        self._own_last: Event | None = None
        self._hbm_free = 0.0
        self._hbm_bytes_per_ns = hbm_bytes_per_ns

    def serve(self, event: Event, transfer: Transfer, hbm_bytes: int) -> None:
        """Give a transfer that has arrived its engines, and say when it begins and ends."""
        arrival, busy = event.begin, transfer.engine_ns
        if transfer.engines == 0:
            first = latest = max(arrival, self._own_free)
            if self._own_free > arrival:
                event.reason, event.cause = Reason.dma, self._own_last
            self._own_free, self._own_last = latest + busy, event
        else:
            first, latest = self._engines(event, transfer.engines, busy)
        end = first + transfer.payload_ns
        if latest > arrival:
            end = max(end, latest + busy)
        if hbm_bytes:
            self._hbm_free = max(first, self._hbm_free) + hbm_bytes / self._hbm_bytes_per_ns
            end = max(end, self._hbm_free)
        event.begin, event.free, event.end = latest, end, end + transfer.notify_ns

    def _engines(self, event: Event, wanted: int, busy: float) -> tuple[float, float]:
        """When the first and the last of its engines take a transfer up."""
        free, arrival = self._free, event.begin
        if wanted >= len(free):
            first, latest = min(free), max(free)
            cause = self._last[free.index(latest)]
            self._free = [(f if f > arrival else arrival) + busy for f in free]
            self._last = [event] * len(free)
        else:
            chosen = sorted(range(len(free)), key=free.__getitem__)[:wanted]
            first, latest = free[chosen[0]], free[chosen[-1]]
            cause = self._last[chosen[-1]]
            for engine in chosen:
                free[engine] = max(arrival, free[engine]) + busy
                self._last[engine] = event
        if latest > arrival:
            event.reason, event.cause, event.wait = Reason.dma, cause, None
        return max(arrival, first), max(arrival, latest)
