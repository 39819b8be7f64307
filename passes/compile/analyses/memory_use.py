"""The memory in use at each instruction, updated while passes extend the lifetimes of tiles."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.liveness import liveness


class MemoryUse:
    """The bytes per partition in use at each instruction; in PSUM, in whole banks."""

    def __init__(self, kernel: KernelOp, region: MemoryRegion, part: float):
        """Compute the memory use from the live ranges of a kernel.

        `part`: the largest fraction of the memory that an extension may fill.
        """
        target = kernel.target
        in_sbuf = region is MemoryRegion.sbuf
        self._unit = 1 if in_sbuf else target.psum_bank_bytes
        size = target.sbuf_usable_bytes if in_sbuf else target.psum_partition_bytes
        self._limit = part * size
        lives = liveness(kernel)
        self._places = lives.positions()
        self._loops: dict[Operation, tuple[int, int]] = {
            loop.op: (loop.start, loop.end) for loop in lives.loops
        }
        self._used = np.zeros(len(lives.instructions) + 1, np.int64)
        self._ranges: dict[SSAValue, tuple[int, int]] = {}
        for one in lives.ranges:
            if one.tile.region is region:
                self._ranges[one.result] = one.start, one.end
                self._used[one.start : one.end + 1] += self._size(one.result)

    def _size(self, base: SSAValue) -> int:
        return -(-info_of(base).partition_bytes // self._unit) * self._unit

    def extend(
        self, base: SSAValue, replaced: Collection[SSAValue], first: Operation, last: Operation
    ) -> bool:
        """Extend the lifetime of a tile if memory allows; returns whether it does.

        Args:
            base: the tile.
            replaced: tiles whose lifetimes end, because `base` replaces them.
            first: the new lifetime includes this instruction, or this loop from its start.
            last: the new lifetime includes this instruction, or this loop to its end.
        """
        start, end = self._ranges[base]
        start, end = min(start, self._range(first)[0]), max(end, self._range(last)[1])
        used = self._used[start : end + 1].copy()
        for tile in {base, *replaced}:
            tile_start, tile_end = self._ranges[tile]
            used[max(0, tile_start - start) : max(0, tile_end + 1 - start)] -= self._size(tile)
        used += self._size(base)
        if used.max() > self._limit:
            return False
        self._used[start : end + 1] = used
        self._ranges[base] = start, end
        for tile in replaced:
            if tile is not base:
                self._ranges[tile] = 0, -1
        return True

    def _range(self, op: Operation) -> tuple[int, int]:
        place = self._places.get(op)
        return self._loops[op] if place is None else (place, place)


class MemoryUses:
    """The `MemoryUse` of SBUF and of PSUM, created on first use."""

    def __init__(self, kernel: KernelOp, part: float):
        self._kernel, self._part = kernel, part
        self._known: dict[MemoryRegion, MemoryUse] = {}

    def of(self, base: SSAValue) -> MemoryUse:
        """Return the `MemoryUse` of the memory that holds a tile."""
        region = info_of(base).region
        if region not in self._known:
            self._known[region] = MemoryUse(self._kernel, region, self._part)
        return self._known[region]
