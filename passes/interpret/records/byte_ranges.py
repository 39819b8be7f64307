"""Ranges of bytes of a tensor, and their pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nkijit.dialects.access import AccessPattern

PAGE = 4096
"""The size of a page in bytes."""

Pages = npt.NDArray[np.intp]
"""The numbers of some pages of a tensor's memory, in ascending order."""


@dataclass(frozen=True, slots=True)
class ByteRanges:
    """The bytes of a tile: ranges of `length` bytes that begin at `starts`.

    A range may contain gaps shorter than a page.
    """

    starts: Pages
    length: int

    @staticmethod
    def of(access: AccessPattern, itemsize: int) -> ByteRanges:
        """Return the bytes of a pattern whose elements have `itemsize` bytes."""
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
        """Return the numbers of the pages that contain the bytes."""
        return self.blocks(PAGE)

    def blocks(self, size: int) -> npt.NDArray[np.intp]:
        """Return the numbers of the blocks of `size` bytes that contain the bytes, ascending."""
        first, last = self.starts // size, (self.starts + self.length - 1) // size
        if len(first) == 1:
            return np.arange(int(first[0]), int(last[0]) + 1)
        most = int((last - first).max(initial=-1)) + 1
        found = np.minimum(first[:, None] + np.arange(most), last[:, None])
        return np.unique(found)
