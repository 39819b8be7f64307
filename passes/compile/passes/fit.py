"""`fit`: spills tiles to HBM where more are in use at a time than SBUF holds.

`residency` decides which tiles leave SBUF until their next use. A tile that was loaded from a
tensor that the kernel does not write is loaded again; other contents are stored in HBM first. The
loads are inserted before the first use of their tiles. `list-schedule` moves them up as far as
memory allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.declare.creation import copied_before, created
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import allocation_type, info_of
from nkijit.passes.analysis.memory.residency import Action, Residency, Step, peak, residency
from nkijit.passes.analysis.writes.liveness import liveness
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.passes.rename_tiles import Origins

_OpT = TypeVar("_OpT", bound=Operation)

MAX_USE = 0.6
"""The largest fraction of SBUF in use after spilling; the rest lets loads run ahead."""


def fit(
    kernel: KernelOp,
    origins: Origins | None = None,
    capacity: int | None = None,
    analyses: Analyses | None = None,
) -> int:
    """Make a kernel's tiles fit into SBUF; returns the number of inserted and moved DMAs.

    A kernel that fits, or cannot be made to fit, is not changed.

    Args:
        kernel: changed in place.
        origins: gets the new operations.
        capacity: bytes per partition; by default those of the kernel's target.
    """
    analyses = analyses or Analyses(kernel)
    capacity = capacity or kernel.target.sbuf_usable_bytes
    if _upper_bound(analyses) <= capacity:
        return 0
    live = liveness(kernel)
    if peak(live) <= capacity:
        return 0
    # An instruction with large tiles may need all of SBUF.
    found = residency(live, int(capacity * MAX_USE)) or residency(live, capacity)
    if found is None:
        return 0
    _Rewriting(kernel.body.block, live.instructions, {} if origins is None else origins).apply(
        found
    )
    analyses.changed()
    return sum(step.action is not Action.begin for step in found.steps)


def _upper_bound(analyses: Analyses) -> int:
    """Return an upper bound of the bytes per partition of SBUF in use at any time.

    A tile used in a loop counts for the whole loop, as if it were carried around. This needs no
    `liveness`, and suffices to see that most kernels fit.
    """
    count = len(analyses.operations)
    first, last = list(range(count)), list(range(count))
    """For each program position, the range of positions of the outermost loop around it.

    For a position outside of loops, the range contains only that position.
    """
    for op in analyses.nests:
        if op.parent is analyses.kernel.body.block:
            start, end = analyses.ends_of(op)
            inside = end + 1 - start
            first[start : end + 1], last[start : end + 1] = [start] * inside, [end] * inside
    changes = [0] * (count + 1)
    for base, touched in analyses.accesses.items():
        info = info_of(base)
        if info.region is MemoryRegion.sbuf:
            changes[first[touched[0].place]] += info.partition_bytes
            changes[last[touched[-1].place] + 1] -= info.partition_bytes
    return max(accumulate(changes))


def does_not_fit(kernel: KernelOp) -> bool:
    """Whether the tiles in use at a time exceed the capacity of SBUF."""
    return peak(liveness(kernel)) > kernel.target.sbuf_usable_bytes


class _Rewriting:
    def __init__(self, block: Block, instructions: Sequence[Operation], origins: Origins):
        self._block = block
        self._instructions = instructions
        self._origins = origins
        self._now: dict[SSAValue, SSAValue] = {}
        """For each reallocated tile, the allocation to use at the current point of the program."""
        self._views: dict[SSAValue, dict[int, SSAValue]] = {}
        """For each reallocated tile: maps the `id` of the tile or a view of it to the new value."""
        self._filled: dict[Operation, SSAValue] = {}
        """The original destination of each load that is moved or repeated."""
        self._stored: dict[SSAValue, SSAValue] = {}
        """The HBM tensor in which each spilled tile is stored."""
        self._seen: set[SSAValue] = set()

    def apply(self, found: Residency) -> None:
        for step in found.steps:
            if step.filler is not None:
                self._filled[step.filler] = step.filler.dst
        steps = iter(found.steps)
        step = next(steps, None)
        for position, op in enumerate(self._instructions):
            while step is not None and step.position == position:
                self._take(step, self._block.find_ancestor_op_in_block(op) or op)
                step = next(steps, None)
            if op not in self._filled:
                self._rename(op)

    def _take(self, step: Step, op: Operation) -> None:
        tile = step.tile
        if step.action is Action.store:
            self._store(tile, op)
            return
        self._begin(tile, op)
        if step.action is Action.fill:
            assert step.filler is not None
            filler = step.filler
            if step.repeated:
                now = {id(step.filler.dst): self._filled[step.filler]}
                filler = self._copied(step.filler, op, now)
            else:
                filler.detach()
                Rewriter.insert_op(filler, InsertPoint.before(op))
            self._rename(filler)
        elif step.action is Action.load:
            load = created(DmaCopyOp, (self._now[tile], self._stored[tile]), (), {}, op.location)
            self._insert(load, op, op)

    def _begin(self, tile: SSAValue, op: Operation) -> None:
        """Begin a stay of a tile in SBUF at `op`.

        The first stay keeps the tile's allocation, each later one gets a new allocation.
        """
        if tile not in self._seen:
            self._seen.add(tile)
            return
        alloc = tile.owner
        assert isinstance(alloc, AllocOp)
        self._views[tile] = {}
        self._now[tile] = self._copied(alloc, op, self._views[tile]).result

    def _store(self, tile: SSAValue, op: Operation) -> None:
        info = info_of(tile)
        kind = allocation_type(info.dtype, info.shape, MemoryRegion.private_hbm)
        place = AllocOp.of(kind, location=op.location)
        place.result.name_hint = tile.name_hint
        alloc = tile.owner
        assert isinstance(alloc, AllocOp)
        self._insert(place, op, alloc)
        self._stored[tile] = place.result
        now = self._now.get(tile, tile)
        self._insert(created(DmaCopyOp, (place.result, now), (), {}, op.location), op, op)

    def _rename(self, op: Operation) -> None:
        """Replace the operands of an instruction by the current tiles."""
        for number, value in enumerate(op.operands):
            tile = base_of(value)
            if tile in self._now:
                op.operands[number] = self._view(value, tile, op)

    def _view(self, value: SSAValue, tile: SSAValue, before: Operation) -> SSAValue:
        views = self._views[tile]
        if id(value) not in views:
            view = value.owner
            assert isinstance(view, ViewOp)
            self._copied(view, before, views)
        return views[id(value)]

    def _copied(self, op: _OpT, before: Operation, values: dict[int, SSAValue]) -> _OpT:
        new = copied_before(op, before, values)
        self._origins[new] = self._origins.get(op, op)
        return new

    def _insert(self, new: Operation, before: Operation, origin: Operation) -> None:
        self._origins[new] = self._origins.get(origin, origin)
        Rewriter.insert_op(new, InsertPoint.before(before))
