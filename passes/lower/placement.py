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
from dataclasses import dataclass

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tuples import made
from nkijit.passes.analysis.addresses.allocation import Block, Layout, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.analysis.addresses.blocks import blocks_of, space_of
from nkijit.passes.analysis.addresses.bounds import InUse, lower_bound
from nkijit.passes.analysis.liveness import Liveness, LiveRange, liveness
from nkijit.passes.lower.program import LoweringError, Placement

_PARTS = 8
"""When gaps between tiles keep the most `ahead` from fitting, it is shortened by so many parts."""


@dataclass(frozen=True, slots=True)
class _Placed:
    addresses: Sequence[tuple[int, int]]
    height: int
    live: int


def allocate(
    kernel: KernelOp,
    target: Target | None = None,
    ahead: int | None = None,
    *,
    bounded: bool = True,
) -> Placement:
    """Addresses for the tiles of a kernel.

    Args:
        kernel: a verified kernel.
        target: its hardware, when not the kernel's own numbers hold.
        ahead: for how many instructions after its last one a tile keeps its bytes; by default as
            many as there is room for. 0 packs tiles as tightly as they go.
        bounded: False takes the memories to be as large as the tiles need, if they do not fit.

    Raises LoweringError when no addresses are found.
    """
    target = target or kernel.target
    live = liveness(kernel)
    addresses: dict[AllocOp, tuple[int, int]] = {}
    placed: list[_Placed] = []
    for region in (MemoryRegion.sbuf, MemoryRegion.psum):
        ranges = [r for r in live.ranges if r.tile.region is region]
        found = _place(live, ranges, space_of(region, target), target, ahead, bounded)
        addresses.update(zip([r.alloc for r in ranges], found.addresses, strict=True))
        placed.append(found)
    sbuf, psum = placed
    return Placement(
        live,
        addresses,
        sbuf.height,
        psum.height,
        sbuf.live,
        psum.live,
    )


def _place(
    live: Liveness,
    ranges: Sequence[LiveRange],
    space: Space,
    target: Target,
    ahead: int | None,
    bounded: bool,
) -> _Placed:
    if not ranges:
        return _Placed((), 0, 0)
    blocks, pmax = blocks_of(ranges, target), target.pmax
    tall = [
        b if b.address else made(Block, (b.start, b.end, b.size, pmax, None, b.align))
        for b in blocks
    ]
    needed = lower_bound(tall).bytes
    most = _most(tall, space, len(live.instructions)) if ahead is None else ahead
    layout = Layout((), 0)
    for more in sorted({most * part // _PARTS for part in range(_PARTS + 1)}, reverse=True):
        # After the end of the program there is nothing to keep bytes for.
        last = len(live.instructions) - 1
        kept = [_kept(block, more, last) for block in tall] if more else tall
        # Tight where tiles give their bytes up at once; else whatever fits is as good.
        layout = assign(kept, space, quick=True) if more else assign(kept, space, needed)
        if layout.height <= space.capacity:
            return _Placed(layout.addresses, layout.height, needed)
    beside = assign(blocks, space)
    if beside.height <= space.capacity:
        return _Placed(beside.addresses, beside.height, lower_bound(blocks).bytes)
    if bounded:
        raise _no_room(beside, space, target)
    return _Placed(layout.addresses, layout.height, needed)


def _kept(block: Block, more: int, last: int) -> Block:
    """A block that is in use for more instructions, up to the last one."""
    start, end, size, partitions, address, align = block
    end = min(last, end + more)
    return made(Block, (start, end, size, partitions, address, align))


def _most(blocks: Sequence[Block], space: Space, instructions: int) -> int:
    """The most instructions that all tiles can keep their bytes for, judged by their sizes."""
    unit = space.bank or 1
    in_use = InUse(blocks, unit)

    def fits(more: int) -> bool:
        return in_use.peak(more).bytes <= space.capacity

    low, high = 0, instructions
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _no_room(layout: Layout, space: Space, target: Target) -> LoweringError:
    memory = "PSUM" if space.bank else "SBUF"
    error = LoweringError(
        f"no addresses found for all tiles: they reach byte {layout.height} of {memory}, "
        f"{target.platform} has {space.capacity} per partition"
    )
    error.no_room = True
    return error
