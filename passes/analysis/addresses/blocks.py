"""Conversion of allocations and memories to the inputs of address assignment."""

from __future__ import annotations

from collections.abc import Iterable

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.tiles import TileInfo
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.writes.liveness import LiveRange

SPACES = (MemoryRegion.sbuf, MemoryRegion.psum)
"""The on-chip memories, in the order of reports."""


def space_of(region: MemoryRegion, target: Target) -> Space:
    """Return the capacity and the banks of an on-chip memory."""
    return Space.sbuf(target) if region is MemoryRegion.sbuf else Space.psum(target)


def blocks_of(ranges: Iterable[LiveRange], target: Target) -> list[Block]:
    """Convert live ranges to blocks, in the same order."""
    # Computed once per type: a kernel has many equal tiles.
    forms: dict[int, tuple[int, int, int]] = {}
    blocks: list[Block] = []
    for live in ranges:
        form = forms.get(id(live.tile))
        if form is None:
            form = forms[id(live.tile)] = _form_of(live.tile, target)
        size, partitions, align = form
        address = live.alloc.fixed_address
        block = live.start, live.end, size, partitions, address, align
        blocks.append(made(Block, block))
    return blocks


def _form_of(tile: TileInfo, target: Target) -> tuple[int, int, int]:
    """Return a tile's size in bytes per partition, its partitions, and its alignment in bytes."""
    is_sbuf = tile.region is MemoryRegion.sbuf
    align = target.sbuf_min_align if is_sbuf else target.psum_min_align
    return (
        tile.partition_bytes,
        min(tile.partitions, target.pmax),
        max(align, tile.dtype.itemsize),
    )
