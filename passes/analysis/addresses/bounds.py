"""Lower bounds of the memory that live blocks need, and a sufficient condition for an assignment.

Apart from sorting, both computations take time linear in the number of blocks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT
from nkijit.passes.analysis.addresses.allocation import (
    QUADRANTS,
    Block,
    Space,
    quadrants_of,
)
from nkijit.passes.analysis.bytes.cuts import Cuts


@dataclass(frozen=True, slots=True)
class Peak:
    """The largest number of bytes per partition that blocks need at one position."""

    bytes: int
    position: int
    """The first position at which `bytes` are needed; -1 if there are no blocks."""


def lower_bound(blocks: Sequence[Block]) -> Peak:
    """Return a lower bound of the bytes per partition that any assignment of the blocks needs.

    Blocks that cover the same partition have disjoint bytes. A block of more than 64 partitions
    covers partitions 0 and 64; a block of more than 32 partitions covers at least one of these two.
    A block of n quadrants covers the first partitions of n quadrants. So the sums of the sizes over
    partition 0, over {0, 64} and over {0, 32, 64, 96}, divided by the number of these partitions,
    are lower bounds. Another lower bound is the size of all wide blocks plus the size of the
    largest narrow block.
    """
    if all(b.address is None and quadrants_of(b.partitions) == QUADRANTS for b in blocks):
        return InUse(blocks).peak()
    return _Bound(blocks).peak()


def lower_bound_of_banks(blocks: Iterable[Block], bank: int) -> Peak:
    """Return a lower bound in whole banks: two blocks cannot both fill more than half of a bank."""
    return lower_bound([filled for b in blocks if (filled := _filling(b, bank)) is not None])


def _filling(block: Block, bank: int) -> Block | None:
    """Return the PSUM banks that a block fills more than half, as a block; else None."""
    first = 0 if block.address is None else block.address[1]
    low, after = first // bank, -(-(first + block.size) // bank)
    if 2 * (min((low + 1) * bank, first + block.size) - first) <= bank:
        low += 1
    if 2 * (first + block.size - max((after - 1) * bank, first)) <= bank:
        after -= 1
    if after <= low:
        return None
    fixed = None if block.address is None else (block.address[0], low * bank)
    return block._replace(size=(after - low) * bank, address=fixed)


class InUse:
    """The total size of the blocks in use at each position of the program."""

    def __init__(self, blocks: Sequence[Block], unit: int = 1):
        """Add up the sizes, rounded up to a multiple of `unit` bytes."""
        self._starts = np.array([b.start for b in blocks], np.int64)
        self._ends = np.array([b.end for b in blocks], np.int64)
        sizes = np.array([-(-b.size // unit) * unit for b in blocks], np.int64)
        self._changes = np.concatenate([-sizes, sizes])

    def peak(self, more: int = 0) -> Peak:
        """Return the largest total size of the blocks in use at one position.

        Each block counts as in use for `more` positions after its last use.
        """
        # At equal positions, ends come before starts.
        times = np.concatenate([self._ends + (more + 1), self._starts])
        order = np.argsort(times, kind="stable")
        if not order.size:
            return Peak(0, -1)
        heights = np.cumsum(self._changes[order])
        highest = int(heights.argmax())
        return Peak(int(heights[highest]), int(times[order[highest]]))


class _Bound:
    """The lower bound at a position, updated while a sweep advances through the program."""

    def __init__(self, blocks: Sequence[Block]):
        self.blocks = blocks
        self.sums = [0, 0, 0, 0, 0]
        """Bytes of the blocks in use without a fixed address, by their number of quadrants."""
        # Heaps of the blocks of one and of two quadrants, the largest first. A block that has ended
        # is removed when it reaches the top.
        self.narrow: tuple[list[tuple[int, int]], ...] = ([], [], [])
        self.fixed = [_Coverage() for _ in range(QUADRANTS)]
        """For each quadrant, the bytes of its first partition that fixed blocks cover."""

    def peak(self) -> Peak:
        blocks = self.blocks
        starts = sorted(range(len(blocks)), key=lambda i: blocks[i].start)
        ends = sorted(range(len(blocks)), key=lambda i: blocks[i].end)
        best = Peak(0, -1)
        ended = 0
        for number, index in enumerate(starts):
            position = blocks[index].start
            while blocks[ends[ended]].end < position:
                self._count(ends[ended], -1)
                ended += 1
            self._count(index, 1)
            following = number + 1
            if following < len(starts) and blocks[starts[following]].start == position:
                continue
            bound = self._bound(position)
            if bound > best.bytes:
                best = Peak(bound, position)
        return best

    def _count(self, index: int, sign: int) -> None:
        block = self.blocks[index]
        if block.address is not None:
            first, byte = block.address
            for quadrant, coverage in enumerate(self.fixed):
                if first <= quadrant * PARTITIONS_PER_QUADRANT < first + block.partitions:
                    coverage.count(byte, byte + block.size, sign)
            return
        quadrants = quadrants_of(block.partitions)
        self.sums[quadrants] += sign * block.size
        if quadrants <= 2 and sign > 0:
            heapq.heappush(self.narrow[quadrants], (-block.size, index))

    def _largest(self, quadrants: int, position: int) -> int:
        heap = self.narrow[quadrants]
        while heap and self.blocks[heap[0][1]].end < position:
            heapq.heappop(heap)
        return -heap[0][0] if heap else 0

    def _bound(self, position: int) -> int:
        _, one, two, three, four = self.sums
        fixed = [coverage.total for coverage in self.fixed]
        wide = three + four
        return max(
            *(wide + total for total in fixed[:3]),
            four + fixed[3],
            wide + -(-(two + fixed[0] + fixed[2]) // 2),
            -(-(4 * four + 3 * three + 2 * two + one + sum(fixed)) // 4),
            wide + self._largest(2, position),
            four + self._largest(1, position),
        )


class _Coverage:
    """The number of bytes that a changing set of intervals covers."""

    def __init__(self) -> None:
        self.total = 0
        self._counts = Cuts(0)
        """The number of intervals that cover each byte."""

    def count(self, low: int, high: int, sign: int) -> None:
        """Add an interval (`sign` 1) or remove it (-1)."""
        indices = self._counts.cut_out(low, high)
        cuts, counts = self._counts.at, self._counts.values
        for index in indices:
            counts[index] += sign
            if counts[index] == (sign > 0):
                self.total += sign * (cuts[index + 1] - cuts[index])


def surely_fits(blocks: Sequence[Block], space: Space) -> bool:
    """Whether an assignment certainly exists, without a search.

    If no address is fixed and every block occupies its bytes in all partitions, an assignment
    exists that is at most three times as high as the peak of the sizes in use (J. Gergov,
    Algorithms for Compile-Time Memory Optimization, 1999). Sizes are rounded up to the bank or the
    largest alignment, so that every multiple of this unit is a legal address.
    """
    unit = space.bank or max((block.align for block in blocks), default=1)
    if any(block.address is not None or unit % block.align for block in blocks):
        return False
    return 3 * InUse(blocks, unit).peak().bytes <= space.capacity
