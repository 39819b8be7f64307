"""`assign`: computes addresses for live blocks.

A sweep over time places each block into the free gap that it fills best. If the layout is too high,
blocks are placed by decreasing size or lifetime instead. The block with the highest address is then
placed earlier, repeatedly. Apart from sorting, both methods take time linear in the number of
blocks, if the number of blocks in use at a time is bounded.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT, start_partitions
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.addresses.allocation import (
    QUADRANTS,
    Block,
    Layout,
    Space,
    quadrants_of,
)
from nkijit.passes.analysis.addresses.gaps import (
    TOP,
    Gaps,
    Interval,
    SizedGaps,
    common_gaps,
    gaps_outside,
)

_MOST_CONFLICTS = 1_000_000
"""With more pairs of blocks in use at the same time, only sweeps are tried, to save seconds."""
_ROUNDS = 64
"""The largest number of changes to the order of placement."""


def assign(
    blocks: Sequence[Block], space: Space, goal: int | None = None, *, quick: bool = False
) -> Layout:
    """Compute addresses for all blocks so that no two blocks in use at a time share a byte.

    Two blocks with fixed addresses may share bytes. A block that does not fit extends beyond the
    capacity: see `Layout.height`.

    Args:
        blocks: the blocks to place.
        space: the memory. In PSUM, every block gets banks of its own if there are enough.
        goal: stop at a layout of this height; the capacity by default. A lower bound of the height
            requests the best layout that the search finds.
        quick: only sweep, and abort a sweep that exceeds the goal. If all sweeps are aborted, the
            layout has no addresses.
    """
    if space.bank is not None:
        bank = space.bank
        whole = [b if b.address else b._replace(size=-(-b.size // bank) * bank) for b in blocks]
        layout = _best(whole, space, space.capacity, quick)
        if layout.height <= space.capacity:
            return Layout(layout.addresses, _height(blocks, layout.addresses))
    return _best(blocks, space, space.capacity if goal is None else goal, quick)


def _best(blocks: Sequence[Block], space: Space, goal: int, quick: bool) -> Layout:
    """Try methods until a layout reaches the goal, and return the lowest layout."""
    best = _NONE
    for layout in _sweeps(blocks, space, goal) if quick else _layouts(blocks, space):
        if layout.height < best.height:
            best = layout
        if best.height <= goal:
            break
    return best


_NONE = Layout((), TOP)
"""The layout of an aborted sweep."""


def _sweeps(blocks: Sequence[Block], space: Space, most: int = TOP) -> Iterator[Layout]:
    """Yield the layouts of sweeps forward and backward in time, aborted above height `most`."""
    yield _sweep(blocks, space, most)
    # Backwards in time, the last allocation is placed first.
    yield _sweep([_backwards(block) for block in blocks], space, most)


def _backwards(block: Block) -> Block:
    start, end, size, partitions, address, align = block
    return made(Block, (-end, -start, size, partitions, address, align))


def _layouts(blocks: Sequence[Block], space: Space) -> Iterator[Layout]:
    """Yield layouts of several methods, the fastest method first."""
    yield from _sweeps(blocks, space)
    conflicts = _conflicts(blocks)
    if conflicts is None:
        return
    tried: list[tuple[int, list[int], Layout]] = []
    for key in (_by_size, _by_length, _by_area):
        order = sorted(range(len(blocks)), key=lambda i: key(blocks[i]), reverse=True)
        layout = _in_order(blocks, space, order, conflicts)
        tried.append((layout.height, order, layout))
        yield layout
    _, order, layout = min(tried, key=lambda t: t[0])
    pairs = sum(map(len, conflicts)) // 2
    for _ in range(min(_ROUNDS, _MOST_CONFLICTS // max(pairs, 1))):
        ends = [at + b.size for (_, at), b in zip(layout.addresses, blocks, strict=True)]
        highest = order.index(ends.index(max(ends)))
        # The highest block has more gaps to choose from if it is placed earlier.
        order.insert(highest // 2, order.pop(highest))
        layout = _in_order(blocks, space, order, conflicts)
        yield layout


def _by_size(block: Block) -> tuple[int, ...]:
    return quadrants_of(block.partitions), block.size, block.end - block.start


def _by_length(block: Block) -> tuple[int, ...]:
    return block.end - block.start, block.size


def _by_area(block: Block) -> tuple[int, ...]:
    return ((block.end - block.start + 1) * block.size, block.size)


@lru_cache(maxsize=256)
def _places(partitions: int) -> tuple[tuple[int, range], ...]:
    """Return the possible first partitions of a block, each with the range of covered quadrants."""
    quadrants = quadrants_of(partitions)
    firsts = start_partitions(partitions)
    return tuple(
        (first, range(q := first // PARTITIONS_PER_QUADRANT, q + quadrants)) for first in firsts
    )


def _fit(size: int, align: int, bank: int | None, low: int, high: int) -> int | None:
    """Return the first byte in the gap `low` to `high` where a block can begin, or None."""
    at = -(-low // align) * align
    if bank is not None and at % bank + size > bank:
        at = -(-low // bank) * bank
    return at if at + size <= high else None


def _sweep(blocks: Sequence[Block], space: Space, most: int) -> Layout:
    """Place blocks in the order of their first use, each in the gap that it fills best."""
    fixed = _Fixed(blocks)
    free = [(i, b) for i, b in enumerate(blocks) if b.address is None]
    # A single set of gaps is enough if no two blocks fit next to each other.
    beside = any(len(_places(partitions)) > 1 for partitions in {b.partitions for _, b in free})
    ends = sorted([(b.end, i) for i, b in free])
    starts = sorted([(b.start, -b.size, -b.end, i) for i, b in free])
    if not beside and not fixed.any:
        return _sweep_line(blocks, space, starts, ends, most)
    lanes = [Gaps() for _ in range(QUADRANTS if beside else 1)]
    placed: dict[int, tuple[int, int]] = {}
    ended = 0
    for start, less_size, _, index in starts:
        while ends[ended][0] < start:
            other = ends[ended][1]
            first, low = placed[other]
            high = low + blocks[other].size
            for lane in _lanes_of(lanes, blocks[other].partitions, first):
                lane.give(low, high)
            ended += 1
        block = blocks[index]
        first, low = placed[index] = _best_gap(block, space, lanes, fixed)
        high = low - less_size
        if high > most:
            return _NONE
        for lane in _lanes_of(lanes, block.partitions, first):
            lane.take(low, high)
    layout = _layout(blocks, placed)
    # Fixed blocks may be higher than the others.
    return layout if layout.height <= most else _NONE


def _sweep_line(
    blocks: Sequence[Block],
    space: Space,
    starts: Sequence[tuple[int, int, int, int]],
    ends: Sequence[tuple[int, int]],
    most: int,
) -> Layout:
    """Like `_sweep`, but faster: all blocks begin at partition 0 and none has a fixed address."""
    gaps, bank = SizedGaps(), space.bank
    lows = [0] * len(blocks)
    ended = height = 0
    for start, less_size, _, index in starts:
        while ends[ended][0] < start:
            other = ends[ended][1]
            low = lows[other]
            gaps.give(low, low + blocks[other].size)
            ended += 1
        low = lows[index] = _tightest_by_size(gaps, blocks[index], bank)
        high = low - less_size
        if high > height:
            if high > most:
                return _NONE
            height = high
        gaps.take(low, high)
    return Layout([(0, low) for low in lows], height)


def _lanes_of(lanes: list[Gaps], partitions: int, first: int) -> list[Gaps]:
    if len(lanes) == 1:
        return lanes
    low = first // PARTITIONS_PER_QUADRANT
    return lanes[low : low + quadrants_of(partitions)]


def _best_gap(block: Block, space: Space, lanes: list[Gaps], fixed: _Fixed) -> tuple[int, int]:
    """Return the (partition, byte) at which a block leaves the fewest bytes of a gap free.

    The unbounded gap above all blocks is the last choice.
    """
    places: list[tuple[int, int, int]] = []
    for first, _ in _places(block.partitions):
        gaps = common_gaps(_lanes_of(lanes, block.partitions, first))
        blocked = fixed.overlapping(block, first)
        if blocked:
            gaps = gaps_outside(gaps, blocked)
        places.append((*_tightest(gaps, block, space.bank), first))
    _, at, first = min(places)
    return first, at


def _tightest(gaps: Iterable[Interval], block: Block, bank: int | None) -> tuple[int, int]:
    """Return the bytes that stay free in the gap that a block fills best, and the block's start.

    The last gap is unbounded, so any block fits; the bytes that stay free in it count as `TOP`.
    """
    size, align = block.size, max(block.align, 1)
    best, place = TOP + 1, -1
    for low, high in gaps:
        left = high - low - size
        # A fast test first, because this runs for every gap.
        if 0 <= left < best:
            # In most gaps a block can begin at the first byte.
            if low % align or (bank is not None and low % bank):
                at = _fit(size, align, bank, low, high)
            else:
                at = low
            if at is not None:
                best, place = left if high < TOP else TOP, at
                if not left:
                    break  # no later gap is a better fit
    return best, place


def _tightest_by_size(gaps: SizedGaps, block: Block, bank: int | None) -> int:
    """Return the first byte of a block in the smallest gap that can hold the block."""
    size, align, by_size = block.size, max(block.align, 1), gaps.by_size
    for place in range(bisect_left(by_size, (size, -1)), len(by_size)):
        whole, low = by_size[place]
        at = _fit(size, align, bank, low, low + whole)
        if at is not None:
            return at
    raise AssertionError("above all blocks there is room for any")


class _Fixed:
    """The fixed blocks, grouped by address: a loop uses the same address many times."""

    def __init__(self, blocks: Sequence[Block]):
        found: dict[tuple[int, int, int, int], list[Interval]] = {}
        for block in blocks:
            if block.address is not None:
                first, byte = block.address
                key = (byte, byte + block.size, first, first + block.partitions)
                found.setdefault(key, []).append((block.start, block.end))
        self._at: list[tuple[tuple[int, int, int, int], list[int], list[int]]] = []
        for key in sorted(found):
            times = sorted(found[key])
            latest = list(accumulate((end for _, end in times), max))
            self._at.append((key, [start for start, _ in times], latest))

    @property
    def any(self) -> bool:
        return bool(self._at)

    def overlapping(self, block: Block, first: int) -> list[Interval]:
        """Return the sorted byte ranges that `block` cannot use at partition `first`."""
        end_partition = first + block.partitions
        result: list[Interval] = []
        for (low, high, top, bottom), starts, latest in self._at:
            if top < end_partition and first < bottom:
                earlier = bisect_right(starts, block.end)
                if earlier and latest[earlier - 1] >= block.start:
                    result.append((low, high))
        return result


def _conflicts(blocks: Sequence[Block]) -> list[list[int]] | None:
    """Return, for each block, the blocks in use at the same time; None if there are too many."""
    result: list[list[int]] = [[] for _ in blocks]
    live: dict[int, None] = {}
    ends: list[tuple[int, int]] = []
    found = 0
    for index in sorted(range(len(blocks)), key=lambda i: blocks[i].start):
        while ends and ends[0][0] < blocks[index].start:
            del live[heapq.heappop(ends)[1]]
        found += len(live)
        if found > _MOST_CONFLICTS:
            return None
        result[index].extend(live)
        for other in live:
            result[other].append(index)
        live[index] = None
        heapq.heappush(ends, (blocks[index].end, index))
    return result


def _in_order(
    blocks: Sequence[Block], space: Space, order: Sequence[int], conflicts: list[list[int]]
) -> Layout:
    """Place blocks one by one, each at the lowest byte that the placed blocks leave free."""
    placed = {i: b.address for i, b in enumerate(blocks) if b.address is not None}
    for index in order:
        block = blocks[index]
        if block.address is not None:
            continue
        others = sorted(
            (placed[i][1], placed[i][1] + blocks[i].size, placed[i][0], blocks[i].partitions)
            for i in conflicts[index]
            if i in placed
        )
        candidates = (
            (_lowest(block, space, others, first), first) for first, _ in _places(block.partitions)
        )
        at, first = min(candidates)
        placed[index] = first, at
    return _layout(blocks, placed)


def _lowest(
    block: Block, space: Space, others: Sequence[tuple[int, int, int, int]], first: int
) -> int:
    low, end_partition = 0, first + block.partitions
    align = max(block.align, 1)
    for start, end, top, partitions in others:
        if top < end_partition and first < top + partitions:
            at = _fit(block.size, align, space.bank, low, start)
            if at is not None:
                return at
            low = max(low, end)
    at = _fit(block.size, align, space.bank, low, TOP)
    assert at is not None
    return at


def _layout(blocks: Sequence[Block], placed: dict[int, tuple[int, int]]) -> Layout:
    addresses = [placed[i] if b.address is None else b.address for i, b in enumerate(blocks)]
    return Layout(addresses, _height(blocks, addresses))


def _height(blocks: Sequence[Block], addresses: Sequence[tuple[int, int]]) -> int:
    ends = (at + block.size for (_, at), block in zip(addresses, blocks, strict=True))
    return max(ends, default=0)
