"""The free bytes of partitions as sorted intervals, and intersections of such intervals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence

Interval = tuple[int, int]
"""A half-open range of bytes of a partition."""


TOP = 1 << 60
"""The end of the unbounded gap above all blocks."""


class Gaps:
    """Free bytes of some partitions: sorted, non-adjacent intervals."""

    __slots__ = ("highs", "lows")

    def __init__(self) -> None:
        self.lows = [0]
        self.highs = [TOP]

    def take(self, low: int, high: int) -> None:
        """Mark the free bytes from `low` to `high` as used."""
        index = bisect_right(self.lows, low) - 1
        start, end = self.lows[index], self.highs[index]
        if start == low:
            if high == end:
                del self.lows[index], self.highs[index]
            else:
                self.lows[index] = high
        else:
            self.highs[index] = low
            if high < end:
                self.lows.insert(index + 1, high)
                self.highs.insert(index + 1, end)

    def give(self, low: int, high: int) -> None:
        """Mark the used bytes from `low` to `high` as free."""
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


class SizedGaps(Gaps):
    """Free bytes of some partitions, with an index of the gaps by size."""

    __slots__ = ("by_size",)

    def __init__(self) -> None:
        super().__init__()
        self.by_size = [(TOP, 0)]
        """(size, first byte) of each gap, sorted."""

    def take(self, low: int, high: int) -> None:
        by_size = self.by_size
        index = bisect_right(self.lows, low) - 1
        start, end = self.lows[index], self.highs[index]
        del by_size[bisect_left(by_size, (end - start, start))]
        if start < low:
            insort(by_size, (low - start, start))
        if high < end:
            insort(by_size, (end - high, high))
        super().take(low, high)

    def give(self, low: int, high: int) -> None:
        lows, highs, by_size = self.lows, self.highs, self.by_size
        index = bisect_left(lows, low)
        start, end = low, high
        if index and highs[index - 1] == low:
            start = lows[index - 1]
            del by_size[bisect_left(by_size, (low - start, start))]
        if index < len(lows) and lows[index] == high:
            end = highs[index]
            del by_size[bisect_left(by_size, (end - high, high))]
        insort(by_size, (end - start, start))
        super().give(low, high)


def common_gaps(lanes: Sequence[Gaps]) -> Iterable[Interval]:
    """Return the bytes that are free in all of the given quadrants."""
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


def gaps_outside(gaps: Iterable[Interval], blocked: Sequence[Interval]) -> Iterator[Interval]:
    """Yield the parts of gaps outside of blocked intervals, which are sorted and may overlap."""
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
