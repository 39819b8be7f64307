"""The stretches of a kernel: instructions of a block that may change places.

Loops, prints, registers, what cores meet in, and what is in `nl.no_reorder` keep their places, and
nothing passes them: a stretch ends there. What declares a tile or a number stands anywhere before
its uses.
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
"""What stands anywhere before its uses."""

Uses = dict[SSAValue, tuple[int, int]]
"""The places of the first and of the last use of on-chip tensors."""


@cache
def declares(kind: type[Operation]) -> bool:
    """Whether operations of a class run nothing: they stand anywhere before their uses."""
    # Asked for each operation: classes of xDSL take long to say what they are.
    return issubclass(kind, _DECLARATIONS)


class Region:
    """Instructions that may change places, with what engines need to know to run them."""

    def __init__(self, block: Block):
        self.block = block
        self.ops: list[NisaOp] = []
        self.costs: list[InstructionCost] = []
        """What each instruction takes."""
        self.start = self.end = 0
        """The places of the first and of the last instruction in the program."""
        self.fence: Operation | None = None
        """What stands behind the stretch; None at the end of a block."""
        self.order: Sequence[int] | None = None
        """The best order for these costs, as places in the stretch; None while it is not known."""
        self.accesses: Accesses = {}
        self.used = [0.0, 0.0]
        """Bytes per partition, of SBUF and of PSUM, of what is in use all the time."""
        self.sizes: list[tuple[int, float]] = []
        """Of each tile that is used in this stretch only: 0 for SBUF, 1 for PSUM, and its bytes."""
        self.users: list[int] = []
        """How many instructions use each of these tiles."""
        self.tiles: list[list[int]] = []
        """Those that each instruction uses."""
        self.after: list[list[int]] = []
        """The instructions that wait for each one."""
        self.waiting: list[int] = []
        """How many others each instruction waits for."""


class Regions:
    """The stretches of a kernel."""

    def __init__(
        self,
        kernel: KernelOp,
        nests: Sequence[Operation],
        places: Mapping[int, int],
        costs: Mapping[int, InstructionCost],
        accesses: Accesses,
        kept: Kept,
    ):
        """
        Args:
            kernel: the kernel as it is now.
            nests: its operations with regions.
            places: of its operations in the program, by their identities.
            costs: of what may change places, by the identity of the operation.
            accesses: all of the kernel's.
            kept: of the kernel.
        """
        self._kernel, self._accesses, self._kept = kernel, accesses, kept
        self._places = places
        self._nested = bool(nests)
        self.in_blocks = [(block, self._cut(block, costs)) for block in _blocks(kernel, nests)]
        """The blocks with their stretches, from which the operations between them can be told."""
        self._numbers: list[int] = []
        """Of each place of the program that is in a stretch, the place in the stretch."""
        self._uses: dict[Block, Uses] = {}

    def _cut(self, block: Block, costs: Mapping[int, InstructionCost]) -> list[Region]:
        found: list[Region] = []
        stretch = Region(block)
        for op in directly_in(block):
            cost = costs.get(id(op))
            if cost is not None:
                stretch.ops.append(cast(NisaOp, op))
                stretch.costs.append(cost)
            elif not declares(type(op)):
                stretch.fence = op
                found.append(stretch)
                stretch = Region(block)
        found.append(stretch)
        for stretch in found:
            if stretch.ops:
                ends = stretch.ops[0], stretch.ops[-1]
                stretch.start, stretch.end = (self._places[id(op)] for op in ends)
        return found

    def prepare(self, stretch: Region) -> None:
        """Find out what the instructions of a stretch wait for, and which tiles are its own."""
        if not self._numbers:
            self._hand_out()
        numbers, target = self._numbers, self._kernel.target
        before = predecessors(stretch.ops, self._kept, stretch.accesses, numbers)
        stretch.waiting = [len(others) for others in before]
        after: list[list[int]] = [[] for _ in before]
        for number, others in enumerate(before):
            for other in others:
                after[other].append(number)
        stretch.after = after
        tiles: list[list[int]] = [[] for _ in before]
        stretch.tiles = tiles
        uses = self._uses.get(stretch.block, {})
        for base, touched in stretch.accesses.items():
            first, last = uses.get(base, (-1, -1))
            if first < stretch.start:
                continue  # in use before, or not on chip
            memory, size = _size_of(base, target)
            if last > stretch.end:
                stretch.used[memory] += size
                continue
            tile = len(stretch.sizes)
            stretch.sizes.append((memory, size))
            stretch.users.append(len(touched))
            for access in touched:
                tiles[numbers[access.place]].append(tile)

    def _hand_out(self) -> None:
        """Give stretches their accesses, and what is in use when they begin."""
        within: list[Region | None] = [None] * len(self._places)
        self._numbers = [0] * len(self._places)
        for _, stretches in self.in_blocks:
            for stretch in stretches:
                for number, op in enumerate(stretch.ops):
                    place = self._places[id(op)]
                    within[place] = stretch
                    self._numbers[place] = number
        for base, touched in self._accesses.items():
            stretch = within[touched[0].place]
            if stretch is not None and stretch is within[touched[-1].place]:
                stretch.accesses[base] = touched
                continue
            for stretch, part in groupby(touched, key=lambda access: within[access.place]):
                if stretch is not None:
                    stretch.accesses[base] = list(part)
        self._uses = _uses(self._kernel.body.block, self._accesses, nested=self._nested)
        for block, stretches in self.in_blocks:
            _note_what_is_in_use(self._uses.get(block, {}), stretches, self._kernel.target)


def _blocks(kernel: KernelOp, nests: Sequence[Operation]) -> Iterator[Block]:
    """The blocks of a kernel whose instructions may change places."""
    fixed: set[Block] = set()
    yield kernel.body.block
    for op in nests:
        blocks = [block for region in op.regions for block in region.blocks]
        if type(op) is NoReorderOp or op.parent in fixed:
            fixed.update(blocks)
        else:
            yield from blocks


def _uses(outermost: Block, accesses: Accesses, *, nested: bool) -> dict[Block, Uses]:
    """The uses of on-chip tensors in each block and what is in it.

    `nested`: there are blocks in the outermost one.
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


def _note_what_is_in_use(uses: Uses, stretches: Sequence[Region], target: Target) -> None:
    """Add up the tensors of a block that are in use when its stretches begin, and before."""
    stretches = [stretch for stretch in stretches if stretch.ops]
    starts = [stretch.start for stretch in stretches]
    more = [[0.0, 0.0] for _ in range(len(starts) + 1)]
    for base, (first, last) in uses.items():
        begins, ends = bisect_right(starts, first), bisect_right(starts, last)
        if begins < ends:
            memory, size = _size_of(base, target)
            more[begins][memory] += size
            more[ends][memory] -= size
    for memory in range(2):
        sums = accumulate(changes[memory] for changes in more)
        for stretch, used in zip(stretches, sums, strict=False):
            stretch.used[memory] = used


def _size_of(base: SSAValue, target: Target) -> tuple[int, float]:
    """The memory of an on-chip tensor (0 for SBUF), and its bytes per partition; whole banks."""
    info = info_of(base)
    if info.region is MemoryRegion.sbuf:
        return 0, float(info.partition_bytes)
    bank = target.psum_bank_bytes
    return 1, float(-(-info.partition_bytes // bank) * bank)
