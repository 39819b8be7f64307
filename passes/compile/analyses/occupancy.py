"""The memory that a region still needs while its instructions start out of program order.

A tile that an early instruction allocates is in use from its allocation to its last use. If the
instructions that have not started run in program order, memory suffices if it suffices at each of
them. The scheduler preserves this.
"""

from __future__ import annotations

import numpy as np

from nkijit.passes.compile.analyses.regions import Region

Spans = list[tuple[int, int]]
"""For each tile of a region, the first and the last instruction that uses it."""


def spans_of(region: Region) -> Spans:
    """Return the spans of the tiles of a prepared region; (-1, -1) for tiles without users."""
    first, last = [-1] * len(region.sizes), [-1] * len(region.sizes)
    for number, tiles in enumerate(region.tiles):
        for tile in tiles:
            last[tile] = number
            if first[tile] < 0:
                first[tile] = number
    return list(zip(first, last, strict=True))


class Occupancy:
    """For each instruction of a region: the bytes in use when it runs, in one memory.

    The instructions that have not started are taken to run in program order. Bytes are those of a
    partition; in PSUM, in whole banks.
    """

    def __init__(self, region: Region, spans: Spans, memory: int, limit: float):
        """Begin with a region of which no instruction has started.

        Args:
            region: a prepared region.
            spans: those of its tiles.
            memory: 0 for SBUF, 1 for PSUM.
            limit: the bytes that may be in use, or those in use in program order if these are more.
        """
        self._sizes, self._spans = region.sizes, spans
        changes = np.zeros(len(region.tiles) + 1)
        for (there, size), (first, last) in zip(region.sizes, spans, strict=True):
            if there == memory and first >= 0:
                changes[first] += size
                changes[last + 1] -= size
        self._bytes = np.cumsum(changes) + region.used[memory]
        self.limit = max(limit, float(self._bytes.max()))
        """The largest number of bytes that may be in use."""

    def lack(self, oldest: int, number: int, size: float) -> tuple[float, int]:
        """Return how much an early allocation exceeds the limit, and at which instruction.

        Args:
            oldest: the oldest instruction that has not started.
            number: a later instruction that allocates tiles.
            size: the bytes of the tiles.

        Returns:
            The exceeding bytes, not positive if the allocation fits, and the instruction at which
            most bytes are in use.
        """
        place = oldest + int(self._bytes[oldest:number].argmax())
        return float(self._bytes[place]) + size - self.limit, place

    def allocate(self, tile: int, oldest: int) -> None:
        """Count a tile from the oldest instruction that has not started."""
        first = self._spans[tile][0]
        if first > oldest:
            self._bytes[oldest:first] += self._sizes[tile][1]

    def free(self, tile: int, oldest: int) -> None:
        """Stop counting a tile that no remaining instruction uses."""
        last = self._spans[tile][1]
        if last >= oldest >= 0:
            self._bytes[oldest : last + 1] -= self._sizes[tile][1]
