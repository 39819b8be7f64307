"""Checks that the tiles in use at the same time fit into SBUF and PSUM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.memory import (
    NO_LAYOUT,
    PSUM_CAPACITY,
    SBUF_CAPACITY,
    SBUF_SPILL,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.addresses.allocation import Block, Layout, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.analysis.addresses.blocks import SPACES, blocks_of, space_of
from nkijit.passes.analysis.addresses.bounds import (
    Peak,
    lower_bound,
    lower_bound_of_banks,
    surely_fits,
)
from nkijit.passes.analysis.memory.map import live_tile
from nkijit.passes.analysis.memory.residency import residency
from nkijit.passes.analysis.memory.tile_groups import TileGroup, groups_of
from nkijit.passes.analysis.memory.words import table_of
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, liveness
from nkijit.passes.diagnostics.diagnose import describe_operand, diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic

MOST_ROWS = 8
"""The largest number of rows in the table of live tiles that a finding shows."""


def check_capacity(kernel: KernelOp) -> Iterator[Diagnostic]:
    """For each memory, yield a finding if the live tiles exceed it, or if they get no addresses."""
    crowded = _crowded(kernel)
    if crowded:
        found = liveness(kernel)
        for region in crowded:
            yield from _check(found, region, space_of(region, kernel.target))


def _crowded(kernel: KernelOp) -> list[MemoryRegion]:
    """Return the memories that cannot hold all tiles of the kernel at once.

    Memories with tiles at fixed addresses are included.
    """
    allocs = [op for op in kernel.operations if type(op) is AllocOp]
    return [region for region in SPACES if not _holds_all(allocs, region, kernel.target)]


def _holds_all(allocs: Sequence[AllocOp], region: MemoryRegion, target: Target) -> bool:
    space = space_of(region, target)
    unit = space.bank or 1
    total = 0
    for op in allocs:
        tile = info_of(op.result)
        if tile.region is region:
            total += ceil(tile.partition_bytes / unit) * unit
            if total > space.capacity or "address" in op.properties:
                return False
    return True


def _check(found: Liveness, region: MemoryRegion, space: Space) -> Iterator[Diagnostic]:
    ranges: list[LiveRange] = []
    blocks: list[Block] = []
    of_region = [live for live in found.ranges if live.tile.region is region]
    for live, block in zip(of_region, blocks_of(of_region, found.kernel.target), strict=True):
        first = 0 if block.address is None else block.address[1]
        # A tile that is too large by itself is reported by alloc-size.
        if first + block.size <= space.capacity:
            ranges.append(live)
            blocks.append(block)
    if surely_fits(blocks, space):
        return
    peak = lower_bound(blocks)
    if peak.bytes > space.capacity:
        yield _over_capacity(found, ranges, peak, space)
        return
    if space.bank is not None:
        peak = lower_bound_of_banks(blocks, space.bank)
        if peak.bytes > space.capacity:
            yield _over_capacity(found, ranges, peak, space, banks=True)
            return
    if all(block.address is not None for block in blocks):
        return
    layout = assign(blocks, space)
    if layout.height > space.capacity:
        yield _no_layout(found, ranges, layout, lower_bound(blocks), space)


# ------------------------------------------------------------------ too much


def _over_capacity(
    found: Liveness, ranges: Sequence[LiveRange], peak: Peak, space: Space, *, banks: bool = False
) -> Diagnostic:
    target = found.kernel.target.platform
    rule = PSUM_CAPACITY if space.bank else SBUF_CAPACITY
    if banks:
        bank = space.bank or 1
        message = (
            f"the tiles in use here need {numbered(peak.bytes // bank, 'bank')} of PSUM, "
            f"{target} has "
            f"{space.capacity // bank}"
        )
    else:
        name = "PSUM" if space.bank else "SBUF"
        message = (
            f"the tiles in use here need {numbered(peak.bytes, 'byte')} per partition of {name}, "
            f"{target} has "
            f"{space.capacity} for a kernel"
        )
        spilling = None if space.bank else residency(found, space.capacity)
        if spilling is not None:
            rule = SBUF_SPILL
            more = f"moves {numbered(spilling.bytes, 'byte')} more through HBM"
            message += f"; a compiler {more if spilling.bytes else 'fills some of them later'}"
    live = [live_tile(found, r) for r in ranges if r.start <= peak.position <= r.end]
    groups = groups_of(live)
    unit = (space.bank or 1) if banks else 1
    return diagnose(
        rule,
        found.instructions[peak.position],
        message,
        notes=table_of(groups, MOST_ROWS),
        help=_fix(groups, peak.bytes - space.capacity, unit, space),
    )


def _fix(groups: Sequence[TileGroup], excess: int, unit: int, space: Space) -> str:
    """Return the most plausible fix, based on the tiles that take the most memory.

    `excess` is the number of bytes per partition that do not fit. Tile sizes are rounded up to
    multiples of `unit` bytes.
    """
    is_psum = space.bank is not None
    for group in groups[:2]:
        freed = ceil(group.tile.bytes / unit) * unit
        fewer = group.count - ceil(excess / freed)
        if group.count > 1 and fewer > 0:
            copy = "copy results to SBUF earlier and " if is_psum else ""
            return (
                f"{copy}keep at most {fewer} of the {numbered(group.count, 'tile')} "
                f"'{group.tile.name}' in "
                "use at a time"
            )
    most = groups[0].tile
    if is_psum:
        return PSUM_CAPACITY.help
    if most.dtype == "float32" and most.bytes >= 2 * excess:
        return (
            f"keep '{most.name}' in bfloat16, which takes half of its "
            f"{numbered(most.bytes, 'byte')}"
        )
    return f"split '{most.name}' into parts and work on one at a time, or load it later"


# ------------------------------------------------------------------ no addresses


def _no_layout(
    found: Liveness, ranges: Sequence[LiveRange], layout: Layout, peak: Peak, space: Space
) -> Diagnostic:
    ends = [
        at + r.tile.partition_bytes for (_, at), r in zip(layout.addresses, ranges, strict=True)
    ]
    highest = ranges[ends.index(max(ends))]
    name = "PSUM" if space.bank else "SBUF"
    fixed = [r for r in ranges if r.alloc.fixed_address is not None and r.overlaps(highest)]
    fixed.sort(key=lambda r: -r.tile.partition_bytes)
    notes = [
        f"{describe_operand('in use with it', r.result)}, fixed at {r.alloc.fixed_address}"
        for r in fixed[:MOST_ROWS]
    ]
    return diagnose(
        NO_LAYOUT,
        highest.alloc,
        f"no address in {name} was found for this tile: the best assignment ends at byte "
        f"{layout.height} of {space.capacity}, though never more than {peak.bytes} are in use",
        [("result", highest.result)],
        notes=notes,
    )
