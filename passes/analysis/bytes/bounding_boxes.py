"""Bounding boxes: the partitions and bytes around what on-chip tiles touch."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from nkijit.dialects.nki.views import base_of
from nkijit.dialects.reach import leaves
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import extent_of


class BoundingBox(NamedTuple):
    """Partitions and bytes of them, both half-open, that hold all that a tile touches."""

    top: int
    bottom: int
    left: int
    right: int

    def meets(self, other: BoundingBox) -> bool:
        """True when both have a byte in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def spans(self, other: BoundingBox) -> bool:
        """True when the partitions of the other are among its own."""
        return self.top <= other.top and other.bottom <= self.bottom


def bounding_box_of(value: SSAValue, address: tuple[int, int]) -> BoundingBox:
    """Where a tile lies whose allocation begins at an address.

    What it touches outside of its allocation is left out.
    """
    allocation = base_of(value)
    base, tile = info_of(allocation), info_of(value)
    partition, byte = address
    if allocation is not value and not leaves(base, tile):
        parts = extent_of(value).split(base.partition_bytes)
        if parts is not None:
            rows, columns = parts
            return BoundingBox(
                partition + rows.low,
                partition + rows.high + 1,
                byte + columns.low,
                byte + columns.high + 1,
            )
    return BoundingBox(partition, partition + base.partitions, byte, byte + base.partition_bytes)
