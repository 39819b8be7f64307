"""`fit`: tiles that do not fit into SBUF wait in HBM.

When more tiles are in use at a time than SBUF holds, some leave it until they are used again. What
has been loaded from a tensor that the kernel does not write is loaded again; other contents are
stored in HBM first. Loads stand in front of the first use of their tiles then; moving them up, as
far as memory allows, is left to `list-schedule`. Which tiles leave is said by `residency`.
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

ROOM = 0.6
"""The part of SBUF that tiles may take then; the rest lets loads run ahead."""


def fit(
    kernel: KernelOp,
    origins: Origins | None = None,
    capacity: int | None = None,
    analyses: Analyses | None = None,
) -> int:
    """Let the tiles of a kernel fit into SBUF; returns how many loads and stores serve that.

    A kernel that fits, or cannot be made to, stays as it is.

    Args:
        kernel: it is changed.
        origins: it gets those of the new operations.
        capacity: bytes of a partition; by default those that a kernel has.
        analyses: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    capacity = capacity or kernel.target.sbuf_usable_bytes
    if _at_most(analyses) <= capacity:
        return 0
    live = liveness(kernel)
    if peak(live) <= capacity:
        return 0
    # An instruction with large tiles may need more than that part.
    found = residency(live, int(capacity * ROOM)) or residency(live, capacity)
    if found is None:
        return 0
    _Rewriting(kernel.body.block, live.instructions, {} if origins is None else origins).apply(
        found
    )
    analyses.changed()
    return sum(step.action is not Action.begin for step in found.steps)


def _at_most(analyses: Analyses) -> int:
    """Bytes per partition of SBUF than which no more are in use at a time.

    Tiles that are used in a loop count in all of it, as if it carried them around. That is known
    without `liveness`, and most kernels fit by it.
    """
    count = len(analyses.operations)
    first, last = list(range(count)), list(range(count))
    """Of each place of the program, those of the outermost operation that it is in."""
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
    """True when more is in use at a time than SBUF holds."""
    return peak(liveness(kernel)) > kernel.target.sbuf_usable_bytes


class _Rewriting:
    def __init__(self, block: Block, instructions: Sequence[Operation], origins: Origins):
        self._block = block
        self._instructions = instructions
        self._origins = origins
        self._now: dict[SSAValue, SSAValue] = {}
        """The tensor that is a tile now, where it is not the author's."""
        self._views: dict[SSAValue, dict[int, SSAValue]] = {}
        """What a tile and its views are now, by the identity of those of the author's."""
        self._filled: dict[Operation, SSAValue] = {}
        """What instructions filled as the author wrote them that run at other places now."""
        self._kept: dict[SSAValue, SSAValue] = {}
        """What is stored of a tile in HBM."""
        self._begun: set[SSAValue] = set()

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
            load = created(DmaCopyOp, (self._now[tile], self._kept[tile]), (), {}, op.location)
            self._insert(load, op, op)

    def _begin(self, tile: SSAValue, op: Operation) -> None:
        """From here on a tile is a tensor of its own; the first time it is the author's."""
        if tile not in self._begun:
            self._begun.add(tile)
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
        self._kept[tile] = place.result
        now = self._now.get(tile, tile)
        self._insert(created(DmaCopyOp, (place.result, now), (), {}, op.location), op, op)

    def _rename(self, op: Operation) -> None:
        """Let an instruction use what its tiles are now."""
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
        made = copied_before(op, before, values)
        self._origins[made] = self._origins.get(op, op)
        return made

    def _insert(self, made: Operation, before: Operation, origin: Operation) -> None:
        self._origins[made] = self._origins.get(origin, origin)
        Rewriter.insert_op(made, InsertPoint.before(before))
