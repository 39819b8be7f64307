"""Bytes in a line, cut where something about them changes."""

from __future__ import annotations

from bisect import bisect_left
from typing import Generic, TypeVar

V = TypeVar("V")


class Cuts(Generic[V]):
    """A value for all bytes from 0 on, the same from each cut to the next one."""

    __slots__ = ("at", "values")

    def __init__(self, value: V):
        """`value` of all bytes; both parts of what is cut keep theirs, so it is replaced only."""
        self.at = [0]
        self.values = [value]

    def cut(self, byte: int) -> int:
        """Cut before a byte; returns the index of the value that begins there."""
        index = bisect_left(self.at, byte)
        if index == len(self.at) or self.at[index] != byte:
            self.at.insert(index, byte)
            self.values.insert(index, self.values[index - 1])
        return index

    def cut_out(self, low: int, high: int) -> range:
        """Cut around the bytes from `low` up to `high`, without it: the indices of their values."""
        first = self.cut(low)
        return range(first, self.cut(high))
