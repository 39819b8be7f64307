"""The straight-line regions of a kernel: instructions of a block that may be reordered.

Loops, prints, register operations, instructions that wait for other cores, and the contents of
`nl.no_reorder` keep their places. No instruction moves across them: each ends a region.
Declarations of tiles, constants and registers may be anywhere before their uses, so they do not end
a region.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, groupby
from typing import cast

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import directly_in
from nkijit.passes.compile.analyses.accesses import Accesses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.ordering import Kept, predecessors

_DECLARATIONS = (*DECLARATIONS, ConstantOp, RegisterOp, arith.ConstantOp)
"""Operations that execute nothing and may be anywhere before their uses."""

Uses = dict[SSAValue, tuple[int, int]]
"""For each on-chip tensor, the program positions of its first and last use."""


@cache
def declares(kind: type[Operation]) -> bool:
    """Whether operations of a class execute nothing and may be anywhere before their uses."""
    # Cached: `issubclass` on xDSL's classes is slow, and every operation is checked.
    return issubclass(kind, _DECLARATIONS)


class Region:
    """A straight-line region of instructions, with the inputs of the scheduler."""

    def __init__(self, block: Block):
        self.block = block
        self.ops: list[NisaOp] = []
        self.costs: list[InstructionCost] = []
        """The cost of each instruction of the region."""
        self.start = self.end = 0
        """The program positions of the first and of the last instruction."""
        self.fence: Operation | None = None
        """The operation that ends the region; None if the region ends with its block."""
        self.order: Sequence[int] | None = None
        """The best order with the costs in `costs`, as indices into `ops`; None until computed."""
        self.accesses: Accesses = {}
        self.used = [0.0, 0.0]
        """Bytes per partition, in SBUF and in PSUM, of tiles used also outside the region."""
        self.sizes: list[tuple[int, float]] = []
        """Memory (0: SBUF, 1: PSUM) and bytes per partition of tiles used only in the region."""
        self.users: list[int] = []
        """The number of instructions that use each tile of `sizes`."""
        self.tiles: list[list[int]] = []
        """For each instruction, the tiles that it uses, as indices into `sizes`."""
        self.after: list[list[int]] = []
        """For each instruction, the instructions that depend on its result or must follow it."""
        self.waiting: list[int] = []
        """For each instruction, the number of instructions that must precede it."""


class Regions:
    """All straight-line regions of a kernel."""

    def __init__(
        self,
        kernel: KernelOp,
        nests: Sequence[Operation],
        places: Mapping[int, int],
        costs: Mapping[int, InstructionCost],
        accesses: Accesses,
        engine_state: Kept,
    ):
        """Divide a kernel into regions.

        `nests` are the kernel's operations with (xDSL) regions. `places` has the index of each
        operation in program order, and `costs` the cost of each movable instruction, both by `id`.
        """
        self._kernel, self._accesses, self._engine_state = kernel, accesses, engine_state
        self._places = places
        self._nested = bool(nests)
        self.in_blocks = [(block, self._cut(block, costs)) for block in _blocks(kernel, nests)]
        """Each block with its regions, in program order."""
        self._numbers: list[int] = []
        """For each program position in a region, the instruction's index in that region."""
        self._uses: dict[Block, Uses] = {}

    def _cut(self, block: Block, costs: Mapping[int, InstructionCost]) -> list[Region]:
        found: list[Region] = []
        region = Region(block)
        for op in directly_in(block):
            cost = costs.get(id(op))
            if cost is not None:
                region.ops.append(cast(NisaOp, op))
                region.costs.append(cost)
            elif not declares(type(op)):
                region.fence = op
                found.append(region)
                region = Region(block)
        found.append(region)
        for region in found:
            if region.ops:
                ends = region.ops[0], region.ops[-1]
                region.start, region.end = (self._places[id(op)] for op in ends)
        return found

    def prepare(self, region: Region) -> None:
        """Compute the dependences, the tiles and the memory use of a region."""
        if not self._numbers:
            self._distribute()
        numbers, target = self._numbers, self._kernel.target
        before = predecessors(region.ops, self._engine_state, region.accesses, numbers)
        region.waiting = [len(others) for others in before]
        after: list[list[int]] = [[] for _ in before]
        for number, others in enumerate(before):
            for other in others:
                after[other].append(number)
        region.after = after
        tiles: list[list[int]] = [[] for _ in before]
        region.tiles = tiles
        uses = self._uses.get(region.block, {})
        for base, touched in region.accesses.items():
            first, last = uses.get(base, (-1, -1))
            if first < region.start:
                continue  # counted at the start of the region, or not on chip
            memory, size = _size_of(base, target)
            if last > region.end:
                region.used[memory] += size
                continue
            tile = len(region.sizes)
            region.sizes.append((memory, size))
            region.users.append(len(touched))
            for access in touched:
                tiles[numbers[access.place]].append(tile)

    def _distribute(self) -> None:
        """Distribute the accesses to the regions, and set the memory in use at their starts."""
        within: list[Region | None] = [None] * len(self._places)
        self._numbers = [0] * len(self._places)
        for _, regions in self.in_blocks:
            for region in regions:
                for number, op in enumerate(region.ops):
                    place = self._places[id(op)]
                    within[place] = region
                    self._numbers[place] = number
        for base, touched in self._accesses.items():
            region = within[touched[0].place]
            if region is not None and region is within[touched[-1].place]:
                region.accesses[base] = touched
                continue
            for region, part in groupby(touched, key=lambda access: within[access.place]):
                if region is not None:
                    region.accesses[base] = list(part)
        self._uses = _uses(self._kernel.body.block, self._accesses, nested=self._nested)
        for block, regions in self.in_blocks:
            _set_used(self._uses.get(block, {}), regions, self._kernel.target)


def _blocks(kernel: KernelOp, nests: Sequence[Operation]) -> Iterator[Block]:
    """Yield the blocks of a kernel that are not in `nl.no_reorder`."""
    fixed: set[Block] = set()
    yield kernel.body.block
    for op in nests:
        blocks = [block for region in op.regions for block in region.blocks]
        if type(op) is NoReorderOp or op.parent in fixed:
            fixed.update(blocks)
        else:
            yield from blocks


def _uses(outermost: Block, accesses: Accesses, *, nested: bool) -> dict[Block, Uses]:
    """Return the uses of on-chip tensors by block, including nested blocks.

    `nested`: whether the outermost block has nested blocks.
    """
    found: defaultdict[Block, Uses] = defaultdict(dict)
    of_all = found[outermost]
    for base, touched in accesses.items():
        if not info_of(base).region.on_chip:
            continue
        of_all[base] = touched[0].place, touched[-1].place
        for access in touched if nested else ():
            block = access.op.parent
            while block is not outermost and block is not None:
                first, _ = found[block].get(base, (access.place, 0))
                found[block][base] = first, access.place
                around = block.parent_op()
                block = None if around is None else around.parent
    return found


def _set_used(uses: Uses, regions: Sequence[Region], target: Target) -> None:
    """Set `used` of each region.

    `used` is the number of bytes per partition, in SBUF and PSUM, of the block's tensors that are
    in use when the region starts.
    """
    regions = [region for region in regions if region.ops]
    starts = [region.start for region in regions]
    more = [[0.0, 0.0] for _ in range(len(starts) + 1)]
    for base, (first, last) in uses.items():
        begins, ends = bisect_right(starts, first), bisect_right(starts, last)
        if begins < ends:
            memory, size = _size_of(base, target)
            more[begins][memory] += size
            more[ends][memory] -= size
    for memory in range(2):
        sums = accumulate(changes[memory] for changes in more)
        for region, used in zip(regions, sums, strict=False):
            region.used[memory] = used


def _size_of(base: SSAValue, target: Target) -> tuple[int, float]:
    """Return the memory of an on-chip tensor (0: SBUF, 1: PSUM) and its bytes per partition.

    In PSUM, the size is rounded up to whole banks.
    """
    info = info_of(base)
    if info.region is MemoryRegion.sbuf:
        return 0, float(info.partition_bytes)
    bank = target.psum_bank_bytes
    return 1, float(-(-info.partition_bytes // bank) * bank)
