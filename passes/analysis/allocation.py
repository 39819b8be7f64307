"""Where live tiles can lie: a lower bound of what they need, and an assignment of addresses.

Nothing here knows IR. A `Block` is bytes per partition, a number of partitions and the positions
between which it is in use; a `Space` is what one partition of SBUF or PSUM has. A block of n
partitions can begin at partition 0 when n > 64, at 0 or 64 when n > 32, else at 0, 32, 64 or 96
(`hardware.start_partitions`), so narrow blocks may lie beside each other. A block with a fixed
address lies where it is fixed; two of them may share bytes, which is for another pass to judge.

`lower_bound` is what no assignment can go below. `assign` is a sweep over time that puts each
block into the free gap that it fills best; where that is not good enough, blocks are placed by
decreasing size or length, and those that come to lie highest are placed earlier. All take time
linear in the number of blocks (but for sorting) as long as the number of blocks in use at one
time does not grow with it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, islice

from nkijit.dialects.hardware.targets import (
    PARTITIONS_PER_QUADRANT,
    Target,
    start_partitions,
)

Interval = tuple[int, int]
"""Bytes of a partition: the first, and the one behind the last."""


@dataclass(frozen=True, slots=True)
class Block:
    """A tile as an assignment sees it."""

    start: int
    """The first position at which it is in use."""
    end: int
    """The last one."""
    size: int
    """Bytes per partition."""
    partitions: int
    address: tuple[int, int] | None = None
    """The fixed (partition, byte) where it lies."""
    align: int = 1
    """What its first byte is a multiple of, unless it is fixed."""


@dataclass(frozen=True, slots=True)
class Space:
    """What every partition of a memory has."""

    capacity: int
    """Bytes per partition."""
    bank: int | None = None
    """Bytes of a bank; a block crosses the border of one only if it began at a border."""

    @staticmethod
    def sbuf(target: Target) -> Space:
        """The part of SBUF that a kernel may use."""
        return Space(target.sbuf_usable_bytes)

    @staticmethod
    def psum(target: Target) -> Space:
        """PSUM with its banks."""
        return Space(target.psum_partition_bytes, target.psum_bank_bytes)


@dataclass(frozen=True, slots=True)
class Peak:
    """The most bytes per partition that are needed at one position."""

    bytes: int
    position: int
    """The first position where so many are needed; -1 without any block."""


@dataclass(frozen=True, slots=True)
class Layout:
    """An assignment of addresses."""

    addresses: Sequence[tuple[int, int]]
    """(partition, byte) of every block, in the order in which they were given."""
    height: int
    """The byte behind the last one in use."""


# ------------------------------------------------------------------ lower bounds


def lower_bound(blocks: Sequence[Block]) -> Peak:
    """What the partitions must have for these blocks, however they are placed.

    The blocks that cover one partition lie on top of each other. A block of more than 64
    partitions covers partitions 0 and 64, one of more than 32 covers one of the two, and every
    block covers as many first partitions of quadrants as it has quadrants: so the sums over 0,
    over {0, 64} and over {0, 32, 64, 96}, divided by their number, are lower bounds, and so is a
    single narrow block on top of all wide ones.
    """
    return _Bound(blocks).peak()


def lower_bound_of_banks(blocks: Iterable[Block], bank: int) -> Peak:
    """As `lower_bound`, in bytes of whole banks: two blocks do not both fill most of one."""
    return lower_bound([filled for b in blocks if (filled := _filling(b, bank)) is not None])


def _filling(block: Block, bank: int) -> Block | None:
    """A block with the banks that it fills by more than a half, and those only."""
    first = 0 if block.address is None else block.address[1]
    low, behind = first // bank, -(-(first + block.size) // bank)
    if 2 * (min((low + 1) * bank, first + block.size) - first) <= bank:
        low += 1
    if 2 * (first + block.size - max((behind - 1) * bank, first)) <= bank:
        behind -= 1
    if behind <= low:
        return None
    fixed = None if block.address is None else (block.address[0], low * bank)
    return replace(block, size=(behind - low) * bank, address=fixed)


class _Bound:
    """Sums over the blocks in use, along the program."""

    def __init__(self, blocks: Sequence[Block]):
        self.blocks = blocks
        self.sums = [0, 0, 0, 0, 0]
        """Bytes of the free blocks by their number of quadrants."""
        # Blocks of one and of two quadrants by size, the largest first; ended ones stay until
        # they come to the top.
        self.narrow: tuple[list[tuple[int, int]], ...] = ([], [], [])
        self.fixed = [_Coverage() for _ in range(_QUADRANTS)]
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
        quadrants = _quadrants(block.partitions)
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
        # Number of intervals over the bytes from each cut to the next.
        self._cuts = [0]
        self._counts = [0]

    def count(self, low: int, high: int, sign: int) -> None:
        """Add (1) or take away (-1) an interval."""
        first, behind = self._cut(low), self._cut(high)
        cuts, counts = self._cuts, self._counts
        for index in range(first, behind):
            counts[index] += sign
            if counts[index] == (sign > 0):
                self.total += sign * (cuts[index + 1] - cuts[index])

    def _cut(self, byte: int) -> int:
        index = bisect_left(self._cuts, byte)
        if index == len(self._cuts) or self._cuts[index] != byte:
            self._cuts.insert(index, byte)
            self._counts.insert(index, self._counts[index - 1])
        return index


def surely_fits(blocks: Sequence[Block], space: Space) -> bool:
    """True when it takes no search to know that there is an assignment.

    Without fixed addresses and with all partitions to itself each, blocks have an assignment that
    is no higher than three times what is in use at the peak (J. Gergov, Algorithms for
    Compile-Time Memory Optimization, 1999). Sizes are rounded up so that any multiple of the unit
    is a legal address.
    """
    unit = space.bank or max((block.align for block in blocks), default=1)
    changes: list[tuple[int, int]] = []
    for block in blocks:
        if block.address is not None or unit % block.align:
            return False
        size = -(-block.size // unit) * unit
        changes += ((block.start, size), (block.end + 1, -size))
    # At one position what ends comes first: its sign is negative.
    changes.sort()
    return 3 * max(accumulate(size for _, size in changes), default=0) <= space.capacity


# ------------------------------------------------------------------ assignment

_TOP = 1 << 60
"""Where the free bytes above all blocks end."""
_QUADRANTS = 4
_MOST_CONFLICTS = 1_000_000
"""Pairs of blocks that are looked at to improve on the sweep; more would take some seconds."""
_SWEEPS = 2
"""How many of the layouts that are tried are sweeps; they come first."""
_ROUNDS = 64
"""How often the order of placement is changed to improve on it, at most."""


def assign(
    blocks: Sequence[Block], space: Space, goal: int | None = None, *, quick: bool = False
) -> Layout:
    """Addresses for all blocks; no two that are in use together share a byte.

    (Two fixed ones may.) What does not fit reaches beyond the capacity: see `Layout.height`.

    Args:
        blocks: what to place.
        space: where. In PSUM every block has banks of its own if there are enough of them.
        goal: the height that is good enough; the capacity by default. The lower bound asks for
            the best assignment that is found.
        quick: stop at what the sweeps find.
    """
    if space.bank is not None:
        bank = space.bank
        whole = [b if b.address else replace(b, size=-(-b.size // bank) * bank) for b in blocks]
        layout = _best(whole, space, space.capacity, quick)
        if layout.height <= space.capacity:
            return Layout(layout.addresses, _height(blocks, layout.addresses))
    return _best(blocks, space, space.capacity if goal is None else goal, quick)


def _best(blocks: Sequence[Block], space: Space, goal: int, quick: bool) -> Layout:
    """The lowest layout, of those up to the first that is good enough."""
    best = Layout((), _TOP)
    for layout in islice(_layouts(blocks, space), _SWEEPS if quick else None):
        if layout.height < best.height:
            best = layout
        if best.height <= goal:
            break
    return best


def _layouts(blocks: Sequence[Block], space: Space) -> Iterator[Layout]:
    """Layouts found in several ways, the fastest first."""
    yield _sweep(blocks, space)
    # Backwards in time, what is allocated last comes first.
    yield _sweep([replace(b, start=-b.end, end=-b.start) for b in blocks], space)
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
        # What came to lie highest has more to choose from when it is placed earlier.
        order.insert(highest // 2, order.pop(highest))
        layout = _in_order(blocks, space, order, conflicts)
        yield layout


def _by_size(block: Block) -> tuple[int, ...]:
    return _quadrants(block.partitions), block.size, block.end - block.start


def _by_length(block: Block) -> tuple[int, ...]:
    return block.end - block.start, block.size


def _by_area(block: Block) -> tuple[int, ...]:
    return ((block.end - block.start + 1) * block.size, block.size)


@lru_cache(maxsize=256)
def _quadrants(partitions: int) -> int:
    return min(_QUADRANTS, -(-partitions // PARTITIONS_PER_QUADRANT))


@lru_cache(maxsize=256)
def _places(partitions: int) -> tuple[tuple[int, range], ...]:
    """First partitions that a block may have, each with the quadrants it is in then."""
    quadrants = _quadrants(partitions)
    firsts = start_partitions(partitions)
    return tuple(
        (first, range(q := first // PARTITIONS_PER_QUADRANT, q + quadrants)) for first in firsts
    )


def _fit(block: Block, space: Space, low: int, high: int) -> int | None:
    """The first byte of a gap where a block can begin, if it fits in there."""
    align = max(block.align, 1)
    at = -(-low // align) * align
    if space.bank is not None and at % space.bank + block.size > space.bank:
        at = -(-low // space.bank) * space.bank
    return at if at + block.size <= high else None


class _Gaps:
    """Free bytes of some partitions: sorted intervals that do not touch."""

    __slots__ = ("highs", "lows")

    def __init__(self) -> None:
        self.lows = [0]
        self.highs = [_TOP]

    def take(self, low: int, high: int) -> None:
        """Use bytes that are free."""
        index = bisect_right(self.lows, low) - 1
        start, end = self.lows[index], self.highs[index]
        pieces = [(a, b) for a, b in ((start, low), (high, end)) if a < b]
        self.lows[index : index + 1] = [a for a, _ in pieces]
        self.highs[index : index + 1] = [b for _, b in pieces]

    def give(self, low: int, high: int) -> None:
        """Free bytes that are in use."""
        lows, highs = self.lows, self.highs
        first = index = bisect_left(lows, low)
        if index and highs[index - 1] == low:
            first, low = index - 1, lows[index - 1]
        if index < len(lows) and lows[index] == high:
            high, index = highs[index], index + 1
        lows[first:index] = [low]
        highs[first:index] = [high]

    def __iter__(self) -> Iterator[Interval]:
        return zip(self.lows, self.highs, strict=True)


def _sweep(blocks: Sequence[Block], space: Space) -> Layout:
    """Place blocks as they come into use, each in the gap that it fills best."""
    fixed = _Fixed(blocks)
    free = [i for i, b in enumerate(blocks) if b.address is None]
    # One set of gaps is enough where no two blocks fit beside each other.
    beside = any(len(_places(blocks[i].partitions)) > 1 for i in free)
    lanes = [_Gaps() for _ in range(_QUADRANTS if beside else 1)]
    in_use: list[tuple[int, int]] = []
    placed: dict[int, tuple[int, int]] = {}
    free.sort(key=lambda i: (blocks[i].start, -blocks[i].size, -blocks[i].end, i))
    for index in free:
        block = blocks[index]
        while in_use and in_use[0][0] < block.start:
            _, ended = heapq.heappop(in_use)
            low = placed[ended][1]
            for lane in _lanes_of(lanes, blocks[ended].partitions, placed[ended][0]):
                lane.give(low, low + blocks[ended].size)
        first, at = _best_gap(block, space, lanes, fixed)
        placed[index] = first, at
        for lane in _lanes_of(lanes, block.partitions, first):
            lane.take(at, at + block.size)
        heapq.heappush(in_use, (block.end, index))
    return _layout(blocks, placed)


def _lanes_of(lanes: list[_Gaps], partitions: int, first: int) -> list[_Gaps]:
    if len(lanes) == 1:
        return lanes
    low = first // PARTITIONS_PER_QUADRANT
    return lanes[low : low + _quadrants(partitions)]


def _best_gap(block: Block, space: Space, lanes: list[_Gaps], fixed: _Fixed) -> tuple[int, int]:
    """Where a block leaves the least of a gap free; wide gaps that are cut up cost the most."""
    best: tuple[int, int, int] | None = None
    for first, _ in _places(block.partitions):
        gaps: Iterable[Interval] = _common(_lanes_of(lanes, block.partitions, first))
        blocked = fixed.in_the_way(block, first)
        if blocked:
            gaps = _outside(gaps, blocked)
        for low, high in gaps:
            at = _fit(block, space, low, high)
            if at is not None:
                # Above all blocks there is room for any: the lowest such place is the best.
                found = (high - low - block.size if high < _TOP else _TOP, at, first)
                if best is None or found < best:
                    best = found
    assert best is not None
    return best[2], best[1]


def _common(lanes: Sequence[_Gaps]) -> Iterable[Interval]:
    """The bytes that are free in all of some quadrants."""
    common: Iterable[Interval] = lanes[0]
    for lane in lanes[1:]:
        common = _intersection(common, lane)
    return common


def _intersection(one: Iterable[Interval], two: Iterable[Interval]) -> Iterator[Interval]:
    others = iter(two)
    low, high = next(others)
    for start, end in one:
        while high <= start:
            low, high = next(others)
        while low < end:
            yield max(low, start), min(high, end)
            if high > end:
                break
            following = next(others, None)
            if following is None:
                return
            low, high = following


def _outside(gaps: Iterable[Interval], blocked: Sequence[Interval]) -> Iterator[Interval]:
    """Gaps without blocked intervals, which are sorted and may overlap."""
    for low, high in gaps:
        for start, end in blocked:
            if end <= low:
                continue
            if start >= high:
                break
            if start > low:
                yield low, start
            low = max(low, end)
        if low < high:
            yield low, high


class _Fixed:
    """The fixed blocks, those at one address together: a loop uses an address many times."""

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

    def in_the_way(self, block: Block, first: int) -> list[Interval]:
        """Bytes of fixed blocks that a block meets if it begins at this partition; sorted."""
        behind = first + block.partitions
        result: list[Interval] = []
        for (low, high, top, bottom), starts, latest in self._at:
            if top < behind and first < bottom:
                earlier = bisect_right(starts, block.end)
                if earlier and latest[earlier - 1] >= block.start:
                    result.append((low, high))
        return result


# ------------------------------------------------------------------ placing in another order


def _conflicts(blocks: Sequence[Block]) -> list[list[int]] | None:
    """For each block the blocks that are in use together with it; None when they are too many."""
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
    """Place blocks one after the other at the lowest byte that those placed before leave free."""
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
    low, behind = 0, first + block.partitions
    for start, end, top, partitions in others:
        if top < behind and first < top + partitions:
            at = _fit(block, space, low, start)
            if at is not None:
                return at
            low = max(low, end)
    at = _fit(block, space, low, _TOP)
    assert at is not None
    return at


def _layout(blocks: Sequence[Block], placed: dict[int, tuple[int, int]]) -> Layout:
    addresses = [placed[i] if b.address is None else b.address for i, b in enumerate(blocks)]
    return Layout(addresses, _height(blocks, addresses))


def _height(blocks: Sequence[Block], addresses: Sequence[tuple[int, int]]) -> int:
    ends = (at + block.size for (_, at), block in zip(addresses, blocks, strict=True))
    return max(ends, default=0)
