"""`allocate`: an address for every tile of a core, from live ranges in program order.

Addresses that the author fixed stay. All other tiles begin at partition 0, where verification and
interpretation take them to be: engines pair the partitions of their operands, and accumulators
belong to partitions. Only when that does not fit are narrow tiles laid beside each other.

Two tiles that are never in use together may share bytes, and then the engines wait for each other
there. So where there is room, a tile keeps its bytes for some more instructions (`ahead`), which
lets engines that are done with the older one run ahead: as many as fit. Addresses depend on the
program alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from nkijit.dialects.hardware import MemoryRegion, Target
from nkijit.dialects.nki import AllocOp, KernelOp
from nkijit.passes.analysis.allocation import Block, Layout, Space, assign, lower_bound
from nkijit.passes.analysis.liveness import Liveness, LiveRange, liveness
from nkijit.passes.analysis.memory import block_of, space_of
from nkijit.passes.lower.program import LoweringError, Placement

STEPS = 6
"""How many lengths of `ahead` are tried: halves of the program down to none."""


@dataclass(frozen=True, slots=True)
class _Placed:
    addresses: Sequence[tuple[int, int]]
    height: int
    bound: int
    live: int


def allocate(kernel: KernelOp, target: Target | None = None, ahead: int | None = None) -> Placement:
    """Addresses for the tiles of a kernel.

    Args:
        kernel: a verified kernel.
        target: its hardware, when not the kernel's own numbers hold.
        ahead: for how many instructions behind its last one a tile keeps its bytes; by default as
            many as there is room for. 0 packs tiles as tightly as they go.

    Raises LoweringError when no addresses are found.
    """
    target = target or kernel.target
    live = liveness(kernel)
    addresses: dict[AllocOp, tuple[int, int]] = {}
    placed: list[_Placed] = []
    for region in (MemoryRegion.sbuf, MemoryRegion.psum):
        ranges = [r for r in live.ranges if r.tile.region is region]
        found = _place(live, ranges, space_of(region, target), target, ahead)
        addresses.update(zip([r.alloc for r in ranges], found.addresses, strict=True))
        placed.append(found)
    sbuf, psum = placed
    return Placement(
        live,
        addresses,
        sbuf.height,
        psum.height,
        sbuf.bound,
        psum.bound,
        sbuf.live,
        psum.live,
    )


def _place(
    live: Liveness, ranges: Sequence[LiveRange], space: Space, target: Target, ahead: int | None
) -> _Placed:
    if not ranges:
        return _Placed((), 0, 0, 0)
    blocks = [block_of(r, target) for r in ranges]
    tall = [b if b.address else replace(b, partitions=target.pmax) for b in blocks]
    needed = lower_bound(tall).bytes
    for more in _lengths(len(live.instructions), ahead):
        kept = _kept(live, ranges, tall, more)
        if more and _peak(kept, space) > space.capacity:
            continue
        bound = lower_bound(kept).bytes
        layout = assign(kept, space, bound)
        if layout.height <= space.capacity:
            return _Placed(layout.addresses, layout.height, bound, needed)
    layout = assign(blocks, space)
    if layout.height > space.capacity:
        raise LoweringError(_no_room(layout, space, target))
    return _Placed(layout.addresses, layout.height, lower_bound(blocks).bytes, needed)


def _lengths(instructions: int, ahead: int | None) -> list[int]:
    if ahead is not None:
        return [ahead]
    return [*(instructions >> step for step in range(STEPS)), 0]


def _kept(
    live: Liveness, ranges: Sequence[LiveRange], blocks: Sequence[Block], more: int
) -> list[Block]:
    """The blocks, in use for some more instructions; a tile of a loop no longer than the loop."""
    if not more:
        return list(blocks)
    last = len(live.instructions) - 1
    return [replace(b, end=min(last, b.end + more)) for b in blocks]


def _peak(blocks: Sequence[Block], space: Space) -> int:
    """The most bytes in use at once when all blocks begin at one partition, in whole banks."""
    unit = space.bank or 1
    changes: list[tuple[int, int]] = []
    for block in blocks:
        size = -(-block.size // unit) * unit
        changes += ((block.start, size), (block.end + 1, -size))
    changes.sort()
    return max(accumulate(size for _, size in changes), default=0)


def _no_room(layout: Layout, space: Space, target: Target) -> str:
    memory = "PSUM" if space.bank else "SBUF"
    return (
        f"no addresses found for all tiles: they reach byte {layout.height} of {memory}, "
        f"{target.platform} has {space.capacity} per partition"
    )
