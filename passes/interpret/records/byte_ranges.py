"""Ranges of bytes of a tensor, and the pages that they are in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nkijit.dialects.access import AccessPattern

PAGE = 4096
"""Bytes of a page."""

Pages = npt.NDArray[np.intp]
"""Numbers of pages of a tensor's memory, in order."""


@dataclass(frozen=True, slots=True)
class ByteRanges:
    """The bytes of a tile: ranges of `length` bytes that begin at `starts`.

    A range can have gaps that are shorter than a page.
    """

    starts: Pages
    length: int

    @staticmethod
    def of(access: AccessPattern, itemsize: int) -> ByteRanges:
        """The bytes of a pattern whose elements have `itemsize` bytes."""
        start, length = access.offset * itemsize, itemsize
        apart: list[tuple[int, int]] = []
        steps = (
            (abs(s) * itemsize, s, n) for s, n in zip(access.strides, access.shape, strict=True)
        )
        for step, stride, count in sorted(steps):
            if stride < 0:
                start -= step * (count - 1)
            if step <= max(length, PAGE):
                length += step * (count - 1)
            else:
                apart.append((step, count))
        starts = np.array([start], np.intp)
        for step, count in apart:
            starts = (starts[:, None] + step * np.arange(count)).reshape(-1)
        return ByteRanges(starts, length)

    def pages(self) -> Pages:
        """The pages that these bytes are in."""
        return self.blocks(PAGE)

    def blocks(self, size: int) -> npt.NDArray[np.intp]:
        """The numbers, in order, of the blocks of `size` bytes that these bytes are in."""
        first, last = self.starts // size, (self.starts + self.length - 1) // size
        if len(first) == 1:
            return np.arange(int(first[0]), int(last[0]) + 1)
        most = int((last - first).max(initial=-1)) + 1
        found = np.minimum(first[:, None] + np.arange(most), last[:, None])
        return np.unique(found)
