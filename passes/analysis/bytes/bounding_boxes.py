"""Bounding boxes: ranges of partitions and bytes that contain an on-chip tile."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from nkijit.dialects.nki.views import base_of
from nkijit.dialects.reach import leaves
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import extent_of


class BoundingBox(NamedTuple):
    """The half-open ranges of partitions and of bytes that contain a tile."""

    top: int
    bottom: int
    left: int
    right: int

    def meets(self, other: BoundingBox) -> bool:
        """Whether two boxes have a byte in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def spans(self, other: BoundingBox) -> bool:
        """Whether a box contains all partitions of another box."""
        return self.top <= other.top and other.bottom <= self.bottom


def bounding_box_of(value: SSAValue, address: tuple[int, int]) -> BoundingBox:
    """Return the bounding box of a tile whose allocation begins at `address` (partition, byte).

    The box of a view that reaches beyond its allocation is cut to the allocation's box.
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
