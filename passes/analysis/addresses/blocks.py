"""Allocations and memories as the assignment of addresses (`assignment.py`) sees them."""

from __future__ import annotations

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.liveness import LiveRange

SPACES = (MemoryRegion.sbuf, MemoryRegion.psum)
"""The memories on the chip, in the order in which they are reported."""


def space_of(region: MemoryRegion, target: Target) -> Space:
    """What a partition of an on-chip memory has."""
    return Space.sbuf(target) if region is MemoryRegion.sbuf else Space.psum(target)


def block_of(live: LiveRange, target: Target) -> Block:
    """An allocation as the assignment of addresses sees it."""
    tile = live.tile
    is_sbuf = tile.region is MemoryRegion.sbuf
    align = target.sbuf_min_align if is_sbuf else target.psum_min_align
    return Block(
        live.start,
        live.end,
        tile.partition_bytes,
        min(tile.partitions, target.pmax),
        live.alloc.fixed_address,
        max(align, tile.dtype.itemsize),
    )
