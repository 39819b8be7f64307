"""Lower bounds of what live blocks need, and when it is sure that they fit.

What no assignment can go below is found in time linear in the number of blocks, but for sorting.
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
    """The most bytes per partition that are needed at one position."""

    bytes: int
    position: int
    """The first position where so many are needed; -1 without any block."""


def lower_bound(blocks: Sequence[Block]) -> Peak:
    """What the partitions must have for these blocks, however they are placed.

    The blocks that cover one partition lie on top of each other. A block of more than 64
    partitions covers partitions 0 and 64, one of more than 32 covers one of the two, and every
    block covers as many first partitions of quadrants as it has quadrants: so the sums over 0,
    over {0, 64} and over {0, 32, 64, 96}, divided by their number, are lower bounds, and so is a
    single narrow block on top of all wide ones.
    """
    if all(b.address is None and quadrants_of(b.partitions) == QUADRANTS for b in blocks):
        return InUse(blocks).peak()
    return _Bound(blocks).peak()


def lower_bound_of_banks(blocks: Iterable[Block], bank: int) -> Peak:
    """As `lower_bound`, in bytes of whole banks: two blocks do not both fill most of one."""
    return lower_bound([filled for b in blocks if (filled := _filling(b, bank)) is not None])


def _filling(block: Block, bank: int) -> Block | None:
    """A block with the banks that it fills by more than a half, and those only."""
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
    """The bytes of all blocks that are in use, along the program."""

    def __init__(self, blocks: Sequence[Block], unit: int = 1):
        """`unit`: bytes that sizes are rounded up to a multiple of."""
        self._starts = np.array([b.start for b in blocks], np.int64)
        self._ends = np.array([b.end for b in blocks], np.int64)
        sizes = np.array([-(-b.size // unit) * unit for b in blocks], np.int64)
        self._changes = np.concatenate([-sizes, sizes])

    def peak(self, more: int = 0) -> Peak:
        """The most; `more` is how many positions longer each block is in use."""
        # At one position what ends comes first.
        times = np.concatenate([self._ends + (more + 1), self._starts])
        order = np.argsort(times, kind="stable")
        if not order.size:
            return Peak(0, -1)
        heights = np.cumsum(self._changes[order])
        highest = int(heights.argmax())
        return Peak(int(heights[highest]), int(times[order[highest]]))


class _Bound:
    """Sums over the blocks in use, along the program."""

    def __init__(self, blocks: Sequence[Block]):
        self.blocks = blocks
        self.sums = [0, 0, 0, 0, 0]
        """Bytes of the free blocks by their number of quadrants."""
        # Blocks of one and of two quadrants by size, the largest first; ended ones stay until
        # they come to the top.
        self.narrow: tuple[list[tuple[int, int]], ...] = ([], [], [])
        self.fixed = [_Coverage() for _ in range(QUADRANTS)]
        """Bytes of the fixed blocks that cover the first partition of each quadrant."""

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
    """How many bytes are covered by intervals that come and go."""

    def __init__(self) -> None:
        self.total = 0
        self._counts = Cuts(0)
        """Number of intervals over the bytes."""

    def count(self, low: int, high: int, sign: int) -> None:
        """Add (1) or take away (-1) an interval."""
        indices = self._counts.cut_out(low, high)
        cuts, counts = self._counts.at, self._counts.values
        for index in indices:
            counts[index] += sign
            if counts[index] == (sign > 0):
                self.total += sign * (cuts[index + 1] - cuts[index])


def surely_fits(blocks: Sequence[Block], space: Space) -> bool:
    """True when it takes no search to know that there is an assignment.

    Without fixed addresses and with all partitions to itself each, blocks have an assignment that
    is no higher than three times what is in use at the peak (J. Gergov, Algorithms for
    Compile-Time Memory Optimization, 1999). Sizes are rounded up so that any multiple of the unit
    is a legal address.
    """
    unit = space.bank or max((block.align for block in blocks), default=1)
    if any(block.address is not None or unit % block.align for block in blocks):
        return False
    return 3 * InUse(blocks, unit).peak().bytes <= space.capacity
