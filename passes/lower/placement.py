"""`allocate`: assigns an address to every tile of a core, from live ranges in program order.

Addresses fixed by the author are kept. All other tiles begin at partition 0, as verification and
interpretation assume: engines pair the partitions of their operands, and accumulators belong to
partitions. Narrow tiles are placed next to each other only if the tiles do not fit otherwise.

Two tiles that are never in use together may share bytes, but engines then have to wait for the last
use of the earlier tile. So if memory allows, a tile keeps its bytes for some additional
instructions (`ahead`), so that faster engines can run ahead. `ahead` is the largest number that
fits. If gaps between tiles of several sizes prevent a layout, `ahead` is reduced in steps of an
eighth.
Addresses depend only on the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, liveness
from nkijit.passes.lower.program import LoweringError, Placement

_PARTS = 8
"""While gaps between tiles prevent a layout, `ahead` is reduced in this number of steps."""


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
    """Assign addresses to the tiles of a kernel.

    Args:
        kernel: a verified kernel.
        target: the hardware; the kernel's target by default.
        ahead: the number of instructions for which a tile keeps its bytes after its last use; by
            default as many as memory allows. 0 packs tiles as tightly as possible.
        bounded: False treats the memories as large enough if the tiles do not fit.

    Raises:
        LoweringError: no addresses are found.
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
    # No tile keeps its bytes beyond the end of the program.
    last = len(live.instructions) - 1
    layout = Layout((), 0)
    for layout in _layouts(tall, space, last, needed, ahead):
        if layout.height <= space.capacity:
            return _Placed(layout.addresses, layout.height, needed)
    beside = assign(blocks, space)
    if beside.height <= space.capacity:
        return _Placed(beside.addresses, beside.height, lower_bound(blocks).bytes)
    if bounded:
        raise _no_addresses(beside, space, target)
    return _Placed(layout.addresses, layout.height, needed)


def _layouts(
    blocks: Sequence[Block], space: Space, last: int, needed: int, ahead: int | None
) -> Iterator[Layout]:
    """Yield layouts in which blocks keep their bytes for fewer and fewer additional instructions.

    Args:
        blocks: blocks that cover all partitions.
        space: the memory.
        last: the position of the last instruction.
        needed: the bytes in use at the peak.
        ahead: the largest number of additional instructions; see `allocate`.
    """

    def layout(more: int) -> Layout:
        # Pack tightly if blocks give up their bytes at once; otherwise any layout that fits is
        # good.
        if not more:
            return assign(blocks, space, needed)
        return assign([_extended(block, more, last) for block in blocks], space, quick=True)

    in_use = InUse(blocks, space.bank or 1)
    most = _max_ahead(in_use, space, last + 1) if ahead is None else ahead
    steps = sorted({most * part // _PARTS for part in range(_PARTS + 1)}, reverse=True)
    if ahead is None and space.bank is None and most <= last and len(steps) > 1:
        # With the largest number, SBUF would be full to the last byte. A smaller one shows whether
        # there are gaps.
        first, second = steps[:2]
        found = layout(second)
        with_gaps = found.height * in_use.peak(first).bytes > (
            space.capacity * in_use.peak(second).bytes
        )
        if not with_gaps:
            yield layout(first)
        yield found
        steps = steps[2:]
    yield from map(layout, steps)


def _extended(block: Block, more: int, last: int) -> Block:
    start, end, size, partitions, address, align = block
    end = min(last, end + more)
    return made(Block, (start, end, size, partitions, address, align))


def _max_ahead(in_use: InUse, space: Space, instructions: int) -> int:
    """Return the largest number of additional instructions for which tiles can keep their bytes.

    The estimate adds the sizes of tiles, without gaps between tiles.
    """
    low, high = 0, instructions
    while low < high:
        middle = (low + high + 1) // 2
        if in_use.peak(middle).bytes <= space.capacity:
            low = middle
        else:
            high = middle - 1
    return low


def _no_addresses(layout: Layout, space: Space, target: Target) -> LoweringError:
    memory = "PSUM" if space.bank else "SBUF"
    error = LoweringError(
        f"no addresses found for all tiles: they reach byte {layout.height} of {memory}, "
        f"{target.platform} has {space.capacity} per partition"
    )
    error.out_of_memory = True
    return error
