"""A piecewise constant map over bytes."""

from __future__ import annotations

from bisect import bisect_left
from typing import Generic, TypeVar

V = TypeVar("V")


class Cuts(Generic[V]):
    """A map from bytes >= 0 to values, constant between consecutive cuts."""

    __slots__ = ("at", "values")

    def __init__(self, value: V):
        """Create a map of all bytes to `value`.

        A cut copies the reference to a value, so callers must replace values instead of mutating.
        """
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
        """Cut at `low` and `high`; returns the indices of the values between them."""
        first = self.cut(low)
        return range(first, self.cut(high))
