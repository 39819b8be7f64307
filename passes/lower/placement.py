"""`allocate`: an address for every tile of a core, from live ranges in program order.

Addresses that the author fixed stay. All other tiles begin at partition 0, where verification and
interpretation take them to be: engines pair the partitions of their operands, and accumulators
belong to partitions. Only when that does not fit are narrow tiles laid beside each other.

Two tiles that are never in use together may share bytes, and then the engines wait for each other
there. So where there is room, a tile keeps its bytes for some more instructions (`ahead`), which
lets engines that are done with the older one run ahead: as many as fit, or an eighth fewer where
tiles of several sizes leave gaps. Addresses depend on the program alone.
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
    # After the end of the program there is nothing to keep bytes for.
    last = len(live.instructions) - 1
    layout = Layout((), 0)
    for layout in _layouts(tall, space, last, needed, ahead):
        if layout.height <= space.capacity:
            return _Placed(layout.addresses, layout.height, needed)
    beside = assign(blocks, space)
    if beside.height <= space.capacity:
        return _Placed(beside.addresses, beside.height, lower_bound(blocks).bytes)
    if bounded:
        raise _no_room(beside, space, target)
    return _Placed(layout.addresses, layout.height, needed)


def _layouts(
    blocks: Sequence[Block], space: Space, last: int, needed: int, ahead: int | None
) -> Iterator[Layout]:
    """Layouts in which blocks keep their bytes for fewer and fewer instructions.

    Args:
        blocks: one below the other.
        space: where.
        last: the last instruction.
        needed: the bytes that are in use at the peak.
        ahead: for how many instructions they keep them at most; see `allocate`.
    """

    def layout(more: int) -> Layout:
        # Tight where blocks give their bytes up at once; else whatever fits is as good.
        if not more:
            return assign(blocks, space, needed)
        return assign([_kept(block, more, last) for block in blocks], space, quick=True)

    in_use = InUse(blocks, space.bank or 1)
    most = _most(in_use, space, last + 1) if ahead is None else ahead
    steps = sorted({most * part // _PARTS for part in range(_PARTS + 1)}, reverse=True)
    if ahead is None and space.bank is None and most <= last and len(steps) > 1:
        # With the most SBUF is full to the last byte: gaps are found out about with less.
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


def _kept(block: Block, more: int, last: int) -> Block:
    """A block that is in use for more instructions, up to the last one."""
    start, end, size, partitions, address, align = block
    end = min(last, end + more)
    return made(Block, (start, end, size, partitions, address, align))


def _most(in_use: InUse, space: Space, instructions: int) -> int:
    """The most instructions that all tiles can keep their bytes for, judged by their sizes."""
    low, high = 0, instructions
    while low < high:
        middle = (low + high + 1) // 2
        if in_use.peak(middle).bytes <= space.capacity:
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
